/** Makes sure of `faketime`, without which the suite cannot be run at another time: installs Debian's package where it may. */
import { install, onPath } from "./debian.js";

if (!onPath("faketime")) {
  install(["faketime"]);
  if (!onPath("faketime")) {
    console.log("Missing: faketime (Debian: faketime).");
    process.exitCode = 1;
  }
}
