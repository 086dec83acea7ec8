/** Where the page begins. */
import { render } from "preact";
import { App } from "./app.tsx";
import "./style.css";
import "./examples.css";
import { startTheme } from "./theme.ts";

startTheme();
render(<App />, document.getElementById("app")!);
