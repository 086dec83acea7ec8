/** Where the page begins. */
// First of all: what follows may refine it.
import "./style.css";
import "./examples.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { startTheme } from "./theme.ts";

startTheme();
render(<App />, document.getElementById("app")!);
