/** Stands for `node:http` in browsers: shapes that types name. */
export type IncomingMessage = never;
export type ServerResponse = never;
