/** FUNCTION and FCALL. */
import type { Row } from "../command.ts";

export const functionCommands: Row[] = [];
