/** Stands for `node:zlib` in browsers: nothing of it is there, and what asks for CRC-32 computes it then. */
export {};
