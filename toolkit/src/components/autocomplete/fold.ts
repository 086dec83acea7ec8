/** Names are compared as everywhere in the toolkit. */
export { fold } from "../../text/fold.ts";
