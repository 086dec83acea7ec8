/**
 * What replicas get for one step: which words, in which order, framed by MULTI and EXEC or not, and where SELECT stands.
 * A real server is asked the same, and both streams must be the same word by word, times aside.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Prng } from "../conformance/prng.ts";
import { yardstickMissing } from "../conformance/redis-server.ts";
import { RandomScenes } from "./random-scenes.ts";
import { PATIENCE_MS, ROUNDS, stopAll } from "./servers.ts";
import { ordered, Stage } from "./stage.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const SCENES: Record<string, string> = {
  "a transaction of one write is that write": "1: MULTI|1: SET a 1|1: GET a|1: EXEC",
  "SELECT stands before MULTI": "1: SELECT 9|1: MULTI|1: SET a 1|1: GET a|1: SET b 2|1: EXEC",
  "a transaction may change databases": "1: MULTI|1: SET a 1|1: SELECT 1|1: SET b 2|1: SELECT 0|1: SET c 3|1: EXEC",
  "a transaction without effect is not there": "1: MULTI|1: DEL a|1: EXEC|1: MULTI|1: EXEC|1: MULTI|1: GET a|1: EXEC",
  "messages go to replicas, in transactions too":
    "1: PUBLISH c m|1: MULTI|1: PUBLISH c m|1: SET a 1|1: SPUBLISH s m|1: EXEC|1: MULTI|1: PUBLISH c m|1: EXEC",
  "scripts are what they did":
    "1: EVAL redis.call('set','a','1') 0|1: EVAL redis.call('set','a','1');redis.call('incr','a') 0|1: SCRIPT LOAD return|" +
    "1: MULTI|1: SCRIPT LOAD return(1)|1: SET a 1|1: EXEC|1: MULTI|1: SCRIPT FLUSH|1: SET a 1|1: EXEC|" +
    "1: MULTI|1: EVAL return(2) 0|1: SET a 1|1: EXEC|1: EVAL redis.call('publish','c','m') 0|1: SCRIPT FLUSH",
  "a script says who is to hear of it":
    "1: EVAL redis.call('set','a','1');redis.set_repl(redis.REPL_NONE);redis.call('set','b','1') 0|" +
    "1: EVAL redis.set_repl(redis.REPL_AOF);redis.call('set','b','1') 0|" +
    "1: EVAL redis.set_repl(redis.REPL_REPLICA);redis.call('set','b','1');redis.set_repl(redis.REPL_ALL);redis.call('set','c','1') 0",
  "functions are handed on": "1: FUNCTION FLUSH|1: FUNCTION LOAD {library}|1: FCALL f 1 a|1: FUNCTION DELETE lib",
  "a reader of a group":
    "1: XADD s 1-1 f v|1: XGROUP CREATE s g 0|1: XREADGROUP GROUP g c STREAMS s >|1: MULTI|1: XADD s 2-1 f v|" +
    "1: XREADGROUP GROUP g c STREAMS s >|1: EXEC|1: MULTI|1: XREADGROUP GROUP g d STREAMS s >|1: EXEC",
  "clients that waited are steps of their own":
    "2> BLPOP l 0|3> BLPOP l 0|1: RPUSH l a b c|1: DEL l|2> BLMOVE l m LEFT RIGHT 0|3> BLPOP m 0|1: MULTI|1: RPUSH l x|1: SET a 1|1: EXEC|" +
    "2> BZPOPMIN z 0|1: ZADD z 1 a|2> BLMPOP 0 1 q LEFT COUNT 5|1: RPUSH q 1 2 3|2> BZMPOP 0 1 z MAX COUNT 2|1: ZADD z 1 a 2 b 3 c",
  "what a client waited for has expired when the transaction is over":
    "2> BLPOP l 0|1: MULTI|1: RPUSH l a|1: PEXPIRE l 10|1: DEBUG SLEEP 0.03|1: EXEC|1: EXISTS l|1: RPUSH l again",
  "keys that expired under a command":
    "1: PSETEX a 1 x|1: PSETEX b 1 x|1: DEBUG SLEEP 0.01|1: EXISTS a b|1: PSETEX a 1 x|1: DEBUG SLEEP 0.01|1: SET a 1|" +
    "1: PSETEX b 1 x|1: DEBUG SLEEP 0.01|1: GET b|1: MULTI|1: PSETEX b 1 x|1: DEBUG SLEEP 0.01|1: GET b|1: EXEC|1: GET b",
  "keys that expired under SCAN and RANDOMKEY have nothing to do with each other":
    "1: PSETEX a 1 x|1: PSETEX b 1 x|1: DEBUG SLEEP 0.01|1: SCAN 0 COUNT 100|1: PSETEX a 1 x|1: DEBUG SLEEP 0.01|1: RANDOMKEY|" +
    "1: PSETEX a 1 x|1: DEBUG SLEEP 0.01|1: MULTI|1: SCAN 0 COUNT 100|1: SET b 1|1: EXEC",
  "commands whose outcome is left to chance, or to time":
    "1: SADD s a b c|1: SPOP s 3|1: SADD s a|1: SPOP s|1: INCRBYFLOAT n 1.5|1: HINCRBYFLOAT h f 1.5|1: SET a 1 EX 100|1: SET a 1 PX 100000 GET|" +
    "1: GETEX a EX 100|1: GETEX a PERSIST|1: GETDEL a|1: EXPIRE n 100|1: EXPIRE n -1|1: SETEX a 100 x|1: RESTORE r 0 {dump}|1: COPY a b|1: SORT s STORE t|" +
    "1: XADD x * f v|1: XADD x MAXLEN ~ 1 * f v|1: XTRIM x MAXLEN 1|1: GETSET a 2|1: SETNX a 3|1: MSETNX a 1 c 2|1: GEOADD g 1 1 m|" +
    "1: GEOSEARCHSTORE h2 g FROMLONLAT 1 1 BYRADIUS 1 km|1: PFADD p a|1: PFCOUNT p|1: PFMERGE p2 p|1: PFCOUNT p p2|1: BITFIELD bf SET u8 0 1|1: BITFIELD bf GET u8 0",
  "what DEBUG REPLICATE says is said in the database that was written to last, whatever client says it":
    "1: DEBUG REPLICATE SET a 1|1: GET a|1: SET b 1|1: SELECT 5|1: DEBUG REPLICATE SET c 1|1: SET d 1|2: DEBUG REPLICATE NONSENSE at all|" +
    "2: SET e 1|1: MULTI|1: SET f 1|1: DEBUG REPLICATE DEL f|1: SET g 1|1: EXEC|2: SET h 1",
  "everything at once":
    "1: FLUSHDB|1: FLUSHALL|1: SWAPDB 0 1|1: SELECT 3|1: FLUSHDB ASYNC|1: MOVE none 2|1: SET k v|1: MOVE k 2|1: RENAME k l|1: SELECT 2|1: RENAME k l",
};

describe.skipIf(yardstickMissing() !== undefined)("the stream beside a real server's", () => {
  let ours: Stage;
  let real: Stage;

  beforeAll(async () => {
    [ours, real] = await Promise.all([Stage.open("ours"), Stage.open("redis")]);
  });

  afterAll(stopAll);

  it.each(Object.entries(SCENES))("%s", async (_, scene) => {
    const [mine, theirs] = await Promise.all([ours.play(scene), real.play(scene)]);
    expect(ordered(mine.stream)).toEqual(ordered(theirs.stream));
    expect(mine.answers).toEqual(theirs.answers);
  });

  it("random scenes of transactions, scripts, waiting clients and expiring keys", async () => {
    const seed = Number(process.env.REPLICATION_SEED ?? 7);
    for (let round = 0; round < 25 * ROUNDS; round++) {
      const scene = new RandomScenes(new Prng(seed, round)).next();
      const [mine, theirs] = await Promise.all([ours.play(scene), real.play(scene)]);
      const told = { scene, stream: ordered(mine.stream), answers: mine.answers };
      expect(told, scene).toEqual({ scene, stream: ordered(theirs.stream), answers: theirs.answers });
    }
  });
});
