/** Checks of what sessions are given. */
import { callback, defineOptions, flag, object, prefix, recordOf, schema, text, whole } from "../../base/options.ts";
import type { LoadOptions, SessionData, SessionsOptions } from "./types.ts";

export const OPTIONS = defineOptions<SessionsOptions>("Sessions", {
  prefix,
  idleMs: whole(1_000),
  ttlMs: whole(1_000),
  maxPerUser: whole(1, 10_000),
  maxLive: whole(1),
  viewed: whole(1, 10_000),
  maxValueBytes: whole(1),
  timeoutMs: whole(1),
  schema: recordOf(schema),
});

export const LOAD_OPTIONS = defineOptions<LoadOptions>("Sessions.load", { touch: flag, viewed: text });

export const CREATE_OPTIONS = defineOptions<{ readonly user?: string; readonly data?: SessionData }>(
  "Sessions.create",
  {
    user: text,
    data: object,
  },
);

export const CLEANER_OPTIONS = defineOptions<{
  readonly everyMs?: number;
  readonly onError?: (error: unknown) => void;
}>("Sessions.cleaner", {
  everyMs: whole(1),
  onError: callback,
});

export const UPDATE_OPTIONS = defineOptions<{ readonly ifVersion?: number }>("Sessions.update", {
  ifVersion: whole(0),
});

export const SIGN_OUT_OPTIONS = defineOptions<{ readonly except?: string }>("Sessions.signOutEverywhere", {
  except: text,
});

export const RECENT_OPTIONS = defineOptions<{ readonly limit?: number }>("Sessions.recent", { limit: whole(1, 1_000) });

export const VIEWED_OPTIONS = defineOptions<{ readonly limit?: number }>("Sessions.viewed", { limit: whole(1) });

export const LIST_OPTIONS = defineOptions<{ readonly current?: string }>("Sessions.list", { current: text });
