/**
 * Makes sure of Chromium, in which the console's page is tested. Quick and silent when it is there; installs Debian's package where
 * it may; otherwise says in one line what is missing and what is skipped, and lets the tests go on.
 */
import { install, onPath } from "./debian.js";

const found = () => ["chromium", "chromium-browser", "google-chrome"].some(onPath);

if (!found()) {
  install(["chromium"]);
  if (!found()) console.log("Missing: chromium. Skipped: the console's browser tests.");
}
