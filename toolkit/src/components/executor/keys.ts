/** The keys of an executor are those of its queue, `executor:{name}:…` (../queues/keys.ts). */
import { defineLayout } from "../../base/layout.ts";

defineLayout("executor");

export const PREFIX = "executor";
