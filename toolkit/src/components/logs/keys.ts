/** The keys of a log: one tag for each name, so that logs of different names spread over the nodes. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("logs");

export interface LogKeys {
  /** List: the last entries as JSON, newest first. */
  readonly recent: string;
  /** Sorted set: message by how often it came this hour. */
  readonly common: string;
  /** The same of the hour before. */
  readonly commonLast: string;
  /** String: which hour `common` is for. */
  readonly hour: string;
}

export function logKeys(prefix: string, name: string, severity: string): LogKeys {
  const base = `${tagged(prefix, name, "log")}:${severity}`;
  return {
    recent: `${base}:recent`,
    common: `${base}:common`,
    commonLast: `${base}:common:last`,
    hour: `${base}:hour`,
  };
}
