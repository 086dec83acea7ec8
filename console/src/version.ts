/** The version that the command, the page and the API tell. */
export const VERSION = "0.1.0";
