/**
 * What the two directions of JSON share.
 */
import { LightUserdata } from "../value.ts";

/** `cjson.null`: what JSON's null is, since nil cannot be in a table. */
export const NULL = new LightUserdata("NULL");

/** What is wrong with a value or a text; thrown deep inside, made a Lua error where the script is near on the stack. */
export class JsonFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export interface JsonSettings {
  /** Whether arrays with too many holes become objects, instead of being refused. */
  sparseConvert: number;
  sparseRatio: number;
  sparseSafe: number;
  encodeMaxDepth: number;
  decodeMaxDepth: number;
  precision: number;
  keepBuffer: number;
  /** 0 refused, 1 written as C prints them, 2 as null. */
  encodeInvalidNumbers: number;
  decodeInvalidNumbers: number;
}
