/** Where the page begins. */
// First of all: what follows may refine it.
import { Look } from "./mantine.tsx";
import "./tokens.css";
import "./style.css";
import "./examples.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { queries } from "./load.ts";
import { startTheme } from "./theme.ts";

startTheme();
createRoot(document.getElementById("app")!).render(
  <QueryClientProvider client={queries}>
    <Look>
      <App />
    </Look>
  </QueryClientProvider>,
);
