/** `--pipe`: what is on the input is sent to the server as it is, as fast as the server takes it. */
import { randomBytes } from "node:crypto";
import type { Streams } from "../command.ts";
import type { Link } from "../link/link.ts";
import { encode, textIn } from "../link/reply.ts";

export async function transfer(link: Link, { stdin, stdout }: Streams): Promise<number> {
  let [errors, replies] = [0, 0];
  const last = randomBytes(20).toString("hex");
  const answered = new Promise<void>((resolve, reject) => {
    link.onPush = (reply) => {
      if (textIn(reply) === last) {
        resolve();
        return;
      }
      replies++;
      if (reply.type !== "error") return;
      errors++;
      stdout.write(`${textIn(reply)}\n`);
    };
    link.onClose(reject);
  });
  // It may fail while the input is still read.
  answered.catch(() => {});
  for await (const chunk of stdin) await link.write(Buffer.from(chunk));
  await link.write(encode([["ECHO", last]]));
  stdout.write("All data transferred. Waiting for the last reply...\n");
  await answered;
  stdout.write(`Last reply received from server.\nerrors: ${errors}, replies: ${replies}\n`);
  return errors === 0 ? 0 : 1;
}
