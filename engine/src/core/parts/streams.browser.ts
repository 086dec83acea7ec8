/** Streams. */
import { streams } from "../../commands/streams/streams.ts";

export const groups = [streams];
