/** What the drivers of servers share: connections of their own, and transactions in one write. */
import { ServerError } from "../base/errors.ts";
import { zipped } from "../base/lists.ts";
import { asList, orNull } from "../base/replies.ts";
import type { Answer, Reply, Request, Session } from "./port.ts";
import type { Wire } from "./wire.ts";

const listOrNull = orNull(asList);

export const EXEC: Request = { words: ["EXEC"], key: undefined, buffers: true };

/** Inside of a transaction everything is read as bytes; EXEC's answer is then taken apart as each request asked. */
export function asBuffers(requests: readonly Request[]): Request[] {
  return requests.map((each) => (each.buffers ? each : { ...each, buffers: true }));
}

/** From the answers to MULTI, the commands and EXEC to the answers of the commands; null when a watched key had changed. */
export function executedOrNull(requests: readonly Request[], answers: readonly Answer[]): Answer[] | null {
  for (const answer of answers) if (answer instanceof ServerError) throw answer;
  const replies = listOrNull(answers.at(-1));
  if (replies === null) return null;
  return zipped(requests, replies).map(([{ buffers }, reply]) => (buffers ? reply : asText(reply)));
}

export function executed(requests: readonly Request[], answers: readonly Answer[]): Answer[] {
  return executedOrNull(requests, answers) ?? [];
}

function asText(answer: Reply): Reply;
function asText(answer: Answer): Answer;
function asText(answer: Answer): Answer {
  if (Buffer.isBuffer(answer)) return answer.toString("utf8");
  return Array.isArray(answer) ? answer.map((each) => asText(each)) : answer;
}

export function sessionOver(wire: Wire, timeoutMs: number | undefined): Session {
  const limits = { timeoutMs };
  return {
    send: (each) => wire.send(each, limits),
    sendMany: (requests) => wire.askAll(requests, limits),
    destroy: () => wire.destroy(),
  };
}
