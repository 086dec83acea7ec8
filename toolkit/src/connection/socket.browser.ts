/** Browsers have no sockets; streams that lend their bytes are known by this sign all the same. */
export const LEND = Symbol("lend");

export interface Lending {
  [LEND](listener: (bytes: Buffer) => void): void;
}
