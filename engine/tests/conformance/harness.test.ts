/** The harness itself: it must find what is wrong, and must not find anything where nothing is. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, aggregate, Decoder, scalar } from "./answer.ts";
import { runCampaign } from "./campaign.ts";
import { distancesKey, isSameDistance, levelDistances } from "./distances.ts";
import { wrongTarget } from "./fake-server.ts";
import { print } from "./print.ts";
import { makeEpoch } from "./random.ts";
import { redisMissing, startRedis } from "./redis-server.ts";
import { differences } from "./replays.ts";
import { DISTANCE, EXACT, type Rule, SORTED, SORTED_PAIRS, same, TYPE } from "./rules.ts";
import { openWire, realTarget, type Target } from "./target.ts";
import { parseTranscript, TranscriptError } from "./transcript.ts";

const ALL_KINDS =
  "+OK\r\n-ERR no\r\n:-5\r\n$5\r\na\r\nbc\r\n$-1\r\n*-1\r\n*2\r\n$0\r\n\r\n*0\r\n_\r\n#t\r\n,1.5e+20\r\n(12345678901234567890\r\n" +
  "=7\r\ntxt:abc\r\n!5\r\nERR x\r\n%1\r\n+a\r\n:1\r\n~1\r\n:1\r\n>2\r\n+m\r\n+x\r\n|1\r\n+ttl\r\n:9\r\n$1\r\nv\r\n";

describe("the decoder", () => {
  const whole = new Decoder().push(ALL_KINDS);

  test("keeps every kind of answer apart", () => {
    const tags = ["+", "-", ":", "$", "$-1", "*-1", "*", "_", "#", ",", "(", "=", "!", "%", "~", ">", "|"];
    expect(whole.map((answer) => answer.tag)).toEqual(tags);
  });

  test("gives the same answers at every split", () => {
    for (let split = 1; split < ALL_KINDS.length; split++) {
      const decoder = new Decoder();
      const answers = [...decoder.push(ALL_KINDS.slice(0, split)), ...decoder.push(ALL_KINDS.slice(split))];
      expect(answers).toEqual(whole);
    }
  });

  test.each(["?x\r\n", ":1.5\r\n", "$3\r\nabcd\r\n", "+a\nb\r\n", "*x\r\n", "#y\r\n", "$-2\r\n", "=3\r\nabc\r\n"])(
    "refuses %j",
    (bytes) => {
      expect(() => new Decoder().push(bytes)).toThrow();
    },
  );
});

describe("rules", () => {
  const bulk = (text: string): Answer => scalar("$", text);
  const array = (...texts: string[]): Answer => aggregate("*", texts.map(bulk));
  const approx: Rule = { kind: "approx", by: 5 };

  test.each<[string, Answer, Answer, Rule, boolean]>([
    ["a status is not a string", scalar("+", "OK"), bulk("OK"), { kind: "exact" }, false],
    ["the nulls differ", scalar("$-1"), scalar("*-1"), { kind: "exact" }, false],
    ["sorted ignores order", array("a", "b"), array("b", "a"), SORTED, true],
    ["sorted counts", array("a", "a", "b"), array("a", "b", "b"), SORTED, false],
    ["pairs stay together", array("a", "1", "b", "2"), array("b", "2", "a", "1"), SORTED_PAIRS, true],
    ["pairs are not mixed", array("a", "1", "b", "2"), array("a", "2", "b", "1"), SORTED_PAIRS, false],
    ["type ignores texts", array("a", "b"), array("c", "d"), TYPE, true],
    ["type counts", array("a"), array("a", "b"), TYPE, false],
    ["type compares errors", scalar("-", "ERR a"), scalar("-", "ERR b"), TYPE, false],
    ["near enough", scalar(":", "100"), scalar(":", "104"), approx, true],
    ["too far", scalar(":", "100"), scalar(":", "106"), approx, false],
    ["no expiry is not near one", scalar(":", "-1"), scalar(":", "2"), approx, false],
    ["a distance's last digit", array("a", "12.3456"), array("a", "12.3457"), DISTANCE, true],
    ["a distance's last two digits", array("a", "12.3456"), array("a", "12.3458"), DISTANCE, false],
    ["a word that is not a distance", array("12.345"), array("12.346"), DISTANCE, false],
    ["the first word of an error", scalar("-", "ERR a"), scalar("-", "ERR b"), { kind: "error" }, true],
  ])("%s", (_, a, b, rule, equal) => {
    expect(same(a, b, rule)).toBe(equal);
  });
});

describe("distances that are stored", () => {
  const plain = (line: string) => ({ words: line.split(" "), rule: EXACT, mode: "plain" }) as const;

  test.each<[string, string | undefined]>([
    ["GEORADIUS g 0 0 1 km STOREDIST d", "d"],
    ["georadiusbymember g a 1 km storedist d", "d"],
    ["GEOSEARCHSTORE d g FROMMEMBER a BYRADIUS 1 km ASC STOREDIST", "d"],
    ["GEOSEARCHSTORE d g FROMMEMBER a BYRADIUS 1 km ASC", undefined],
    ["GEORADIUS g 0 0 1 km STORE d", undefined],
    ["GEORADIUS g 0 0 1 km STOREDIST", undefined],
    ["SET storedist d", undefined],
  ])("%s: at %s", (line, key) => {
    expect(distancesKey(plain(line))).toBe(key);
  });

  test.each<[string, string, boolean]>([
    ["166.2741515696", "166.2741515696", true],
    ["16384.000000000004", "16384", true],
    ["2031.4371520571276", "2031.4371520571299", false],
    ["0.1", "0.2", false],
    ["0", "5e-324", false],
    ["-1", "-1.0000000000000002", false],
    ["", "1", false],
  ])("%s and %s are the same distance: %s", (a, b, equal) => {
    expect(isSameDistance(a, b)).toBe(equal);
  });

  /** A side that has these members and scores, and keeps what else it is told. */
  function side(...texts: string[]) {
    const told: string[] = [];
    const call = async (...words: string[]) => {
      if (words[0] !== "ZRANGE") told.push(words.join(" "));
      return aggregate(
        "*",
        texts.map((text) => scalar("$", text)),
      );
    };
    return { call, told };
  }

  test("are given Redis's rounding where nothing else differs, and counted", async () => {
    const ours = side("a", "1", "b", "16384.000000000004", "c", "20000");
    expect(await levelDistances("d", side("a", "1", "b", "16384", "c", "20000"), ours)).toBe(1);
    expect(ours.told).toEqual(["ZADD d 16384 b"]);
  });

  test.each([
    ["a member", side("a", "1", "x", "2")],
    ["a score", side("a", "1", "b", "2.0001")],
    ["their number", side("a", "1")],
  ])("are left as they are where %s differs, for the comparison to find", async (_, ours) => {
    expect(await levelDistances("d", side("a", "1", "b", "2"), ours)).toBe(0);
    expect(ours.told).toEqual([]);
  });
});

describe("transcripts are read", () => {
  test("with clients, quotes, scenes and directives", () => {
    const scenes = parseTranscript(
      '# a\nSET k "a\\x00\\n b"  # just a remark\n@2 GET k   # approx 5\nSMEMBERS s\t# sorted pairs\n--- two\nSORT l GET # ALPHA\nX "  # no" \'it\\\'s\'\n',
    );
    expect(scenes.map((scene) => scene.title)).toEqual(["", "two"]);
    const [first, second] = scenes;
    expect(first!.lines.map((line) => line.words)).toEqual([
      ["SET", "k", "a\0\n b"],
      ["GET", "k"],
      ["SMEMBERS", "s"],
    ]);
    expect(first!.lines.map((line) => line.client)).toEqual([1, 2, 1]);
    expect(first!.lines.map((line) => line.rule.kind)).toEqual(["exact", "approx", "sorted"]);
    expect(second!.lines.map((line) => line.words)).toEqual([
      ["SORT", "l", "GET", "#", "ALPHA"],
      ["X", "  # no", "it's"],
    ]);
  });

  test.each(['SET k "open', 'SET "a"b', "!nonsense 1", "@3"])("and refused where they make no sense: %s", (text) => {
    expect(() => parseTranscript(text)).toThrow(TranscriptError);
  });
});

test("the same seed makes the same commands, another makes others", () => {
  const options = { epoch: 3, commands: 500 };
  expect(makeEpoch({ seed: 7, ...options })).toEqual(makeEpoch({ seed: 7, ...options }));
  expect(makeEpoch({ seed: 7, ...options })).not.toEqual(makeEpoch({ seed: 8, ...options }));
});

const SESSION = `
SADD s a b c d e f g h
SMEMBERS s  # sorted
@2 BLPOP l 0
@2 PING
RPUSH l x
@2 wait
@2 wait
@3 SUBSCRIBE a b
PUBLISH a hello
@3 pushes
@4 HELLO 3  # type
@4 CLIENT TRACKING ON
@4 GET k
SET k 1
@4 pushes
@5 MONITOR
@5 PING
@5 pushes
@5 !close
CLIENT KILL ID {id:2}
@2 PING
@6 CLIENT REPLY OFF
@6 SET a 1
@6 CLIENT REPLY ON
@6 !raw "PING\\r\\n*1\\r\\n$-4\\r\\n"
CLIENT PAUSE 100000 WRITE
@7 SET k 2  # blocks
CLIENT UNPAUSE
@7 wait
XADD x * f v  # type, as entry
XRANGE x {entry} {entry}  # type
SCAN 0 COUNT 1  # scan
CONFIG SET hash-max-listpack-entries 2
---
CONFIG GET hash-max-listpack-entries
!config set-max-intset-entries 1
SADD s 1 2
OBJECT ENCODING s
PUBSUB CHANNELS
---
SADD s 1 2
OBJECT ENCODING s
`;

const missing = redisMissing();

describe.skipIf(missing !== undefined)("beside real servers", () => {
  let real: Target;

  beforeAll(async () => {
    real = await realTarget();
  });
  afterAll(() => real?.close());

  test("a server and its folder are gone after stop, and a refused setting is reported", async () => {
    const server = await startRedis(["--maxmemory", "50mb"]);
    const wire = await openWire(server.port);
    expect(print(await wire.call("CONFIG", "GET", "maxmemory"))).toContain("52428800");
    await server.stop();
    expect((await wire.call("PING")).tag).toBe("closed");
    expect(existsSync(server.folder)).toBe(false);
    await expect(startRedis(["--maxmemory", "nonsense"])).rejects.toThrow("did not start");
  });

  test("two real servers agree, whatever the session does", async () => {
    const other = await realTarget();
    expect(await differences("session", SESSION, real, other)).toEqual([]);
    await other.close();
  });

  test("two real servers agree on random commands", { timeout: 60_000 }, async () => {
    const other = await realTarget();
    const result = await runCampaign(real, other, { seed: 99, commands: 10_000 });
    expect(result.failures.map((failure) => failure.text)).toEqual([]);
    expect(result.missing).toEqual([]);
    await other.close();
  });

  test("a wrong answer is found in a transcript, with its line and both answers", async () => {
    const wrong = await wrongTarget({ reply: (bytes, request) => (request.includes("STRLEN") ? ":7\r\n" : bytes) });
    const found = await differences("a.redis", "SET k v\n\nSTRLEN k\n---\nGET k\n", real, wrong);
    expect(found).toEqual(["a.redis:3  STRLEN k\n  redis:\n    (integer) 1\n  wrong:\n    (integer) 7"]);
    await wrong.close();
  });

  test("a missing push is found though nobody asked for it", async () => {
    const wrong = await wrongTarget({ reply: (bytes) => (bytes.includes("hello") ? "" : bytes) });
    const found = await differences("a.redis", "@2 SUBSCRIBE a\nPUBLISH a hello\n", real, wrong);
    expect(found).toHaveLength(1);
    await wrong.close();
  });

  test("a wrong answer among random commands is found and shrunk to a short transcript", {
    timeout: 60_000,
  }, async () => {
    // Pops from the wrong end: it takes a list of two to see it.
    const wrong = await wrongTarget({ request: (bytes) => bytes.replaceAll("\r\nRPOP\r\n", "\r\nLPOP\r\n") });
    const options = { seed: 5, commands: 20_000, only: ["LPUSH", "RPUSH", "LLEN", "RPOP", "DEL"], shrinkMs: 20_000 };
    const { failures } = await runCampaign(real, wrong, options);
    expect(failures).toHaveLength(1);
    const lines = failures[0]!.transcript.split("\n").filter((line) => !line.startsWith("!config"));
    expect(lines.length).toBe(2);
    expect(await differences("shrunk.redis", failures[0]!.transcript, real, wrong)).toHaveLength(1);
    await wrong.close();
  });
});
