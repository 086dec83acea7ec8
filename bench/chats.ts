/**
 * Chats: messages a second into a chat, and out of it to all of its members, on Redis and on the embedded store; and what people
 * build by hand, a Redis stream with a consumer group for each member.
 *
 * In: fifty senders at a time, nobody reads. Out: the same while all members read in one process and acknowledge; measured from the
 * first message sent to the last one delivered to the last member, as deliveries a second.
 */
import { open, type Store } from "cinnabar";
import { Chats } from "cinnabar/chats";
import { Redis } from "ioredis";
import { median, startServer } from "./servers.ts";

export interface ChatRow {
  readonly what: string;
  readonly members: number;
  readonly sent: number;
  readonly delivered: number;
}

const MEMBERS = [1, 10, 1_000];
const AT_ONCE = 50;
const TEXT = "x".repeat(100);
const READ_AT_ONCE = 100;

interface Subject {
  readonly what: string;
  /** Makes a chat with so many members. */
  create(chat: string, members: readonly string[]): Promise<unknown>;
  send(chat: string, number: number): Promise<unknown>;
  /** Resolves when the member has had so many messages; `onFirst` is called with the first. */
  read(chat: string, member: string, count: number, onFirst: () => void): Promise<void>;
  close(): Promise<unknown>;
}

function ours(what: string, store: Store): Subject {
  const chats = new Chats<{ number: number; text: string }>(store, { maxMessages: 1_000_000, maxBytes: 2 ** 30 });
  return {
    what,
    create: (chat, members) => chats.joinMany(chat, members),
    send: (chat, number) => chats.send(chat, "member 0", { number, text: TEXT }),
    read: async (chat, member, count, onFirst) => {
      let got = 0;
      for await (const _ of chats.messages(chat, member)) {
        if (++got === 1) onFirst();
        if (got === count) break;
      }
    },
    close: () => store.close(),
  };
}

/** One connection for senders, one for readers: nobody has a thousand. So they ask again and again. */
function byHand(port: number): Subject {
  const [sending, reading] = [new Redis({ port, host: "127.0.0.1" }), new Redis({ port, host: "127.0.0.1" })];
  return {
    what: "a stream with a group for each member, by hand",
    create: async (chat, members) => {
      const pipeline = sending.pipeline();
      for (const member of members) pipeline.xgroup("CREATE", chat, member, "$", "MKSTREAM");
      await pipeline.exec();
    },
    send: (chat, number) => sending.xadd(chat, "*", "body", JSON.stringify({ number, text: TEXT })),
    read: async (chat, member, count, onFirst) => {
      for (let got = 0; got < count; ) {
        const found = (await reading.xreadgroup(
          "GROUP",
          member,
          member,
          "COUNT",
          READ_AT_ONCE,
          "STREAMS",
          chat,
          ">",
        )) as [string, [string, string[]][]][] | null;
        const entries = found?.[0]?.[1] ?? [];
        for (const [, [, body]] of entries) JSON.parse(body!);
        if (got === 0 && entries.length > 0) onFirst();
        got += entries.length;
        if (entries.length > 0) await reading.xack(chat, member, ...entries.map(([id]) => id));
      }
    },
    close: async () => [await sending.quit(), await reading.quit()],
  };
}

async function sendAll(subject: Subject, chat: string, count: number): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < count) await subject.send(chat, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
}

async function measure(subject: Subject, members: number, count: number, round: number): Promise<ChatRow> {
  const names = Array.from({ length: members }, (_, nth) => `member ${nth}`);
  const [quiet, busy] = [`quiet ${members} ${round}`, `busy ${members} ${round}`];
  await subject.create(quiet, names);
  let started = performance.now();
  await sendAll(subject, quiet, count);
  const sent = count / ((performance.now() - started) / 1_000);
  await subject.create(busy, names);
  // All are there, and have read something, before it begins.
  let [waiting, begin] = [members, () => {}];
  const ready = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const onFirst = () => {
    if (--waiting === 0) begin();
  };
  const reading = names.map((member) => subject.read(busy, member, count + 1, onFirst));
  await subject.send(busy, 0);
  await ready;
  started = performance.now();
  await Promise.all([sendAll(subject, busy, count), ...reading]);
  const delivered = (count * members) / ((performance.now() - started) / 1_000);
  return { what: subject.what, members, sent, delivered };
}

export async function compareChats(quick: boolean): Promise<ChatRow[]> {
  const server = await startServer("redis");
  const subjects = [
    ours("cinnabar", await open(`redis://127.0.0.1:${server.port}`)),
    byHand(server.port),
    ours("cinnabar, embedded", await open()),
  ];
  const rows = new Map<string, ChatRow[]>();
  const rounds = quick ? 1 : 3;
  for (let round = 0; round < rounds; round++) {
    for (const members of MEMBERS) {
      for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
        const count = (members === 1_000 ? 500 : 10_000) / (quick ? 10 : 1);
        // Once before, so that what is compiled on the way is.
        if (round === 0) await measure(subject, members, count / 5, -1);
        const row = await measure(subject, members, count, round);
        const key = `${subject.what} ${members}`;
        rows.set(key, [...(rows.get(key) ?? []), row]);
        process.stderr.write(".");
      }
    }
  }
  process.stderr.write("\n");
  for (const subject of subjects) await subject.close();
  await server.stop();
  return subjects.flatMap(({ what }) =>
    MEMBERS.map((members) => {
      const measured = rows.get(`${what} ${members}`)!;
      const middle = (field: "sent" | "delivered") => median(measured.map((row) => row[field]));
      return { what, members, sent: middle("sent"), delivered: middle("delivered") };
    }),
  );
}

export function chatTable(rows: readonly ChatRow[]): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    "**Chats**: messages of 100 bytes in, and out to every member, read and acknowledged",
    "",
    "| chats | members | sent/s | delivered/s, end to end |",
    "| --- | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, members, sent, delivered }) => `| ${what} | ${whole(members)} | ${whole(sent)} | ${whole(delivered)} |`,
    ),
  ].join("\n");
}
