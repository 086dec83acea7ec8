/**
 * Every command as a method, made from the engine's command table by `npm run docs`: do not change it here.
 *
 * Commands that block are methods of `store.blocking()`. Those that change the connection that they are sent on are no methods:
 * `store.transaction()` and `store.subscribe()` have connections of their own.
 */
import type { Reply, Word } from "./port.ts";

/** Text where it does not fit 2^53. */
export type Integer = number | bigint | string;
/** Text where a number would lose digits, and for `+inf`, `-inf` and `nan`. */
export type Double = number | string;
/** One, or a list of them. */
export type Many<T> = T | readonly T[];
/** Fields and their values. */
export type Pairs = Readonly<Record<string, Word>> | ReadonlyMap<Word, Word>;
/** Members and their scores. */
export type Scores = Readonly<Record<string, Double>> | ReadonlyMap<Word, Double>;
/** An entry of a stream: fields and values in turn. */
export type StreamEntry = [id: string, fields: string[]];

/** Every command that a shared connection may send, as a method. */
export interface Commands {
  /**
   * Lists the categories of commands, or the commands of one.
   *
   * `ACL CAT [categoryname]` · O(N) with N commands · since 6.0.0
   *
   * @example
   * await db.aclCat("scripting"); // → ["eval…
   */
  aclCat(...options: [...([] | [Word])]): Promise<string[]>;

  /**
   * Removes users and ends their connections.
   *
   * `ACL DELUSER username [username ...]` · O(N) with N connections · since 6.0.0
   *
   * @example
   * await db.aclSetuser("ann", "on");
   * await db.aclDeluser("ann"); // → 1
   */
  aclDeluser(...usernames: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Tells whether a user may make a call, without making it.
   *
   * `ACL DRYRUN username command [arg [arg ...]]` · O(1) · since 7.0.0
   *
   * @example
   * await db.aclDryrun("default", "GET", "k"); // → "OK"
   */
  aclDryrun(username: Word, command: Word, ...options: [...Many<Word>[]]): Promise<string>;

  /**
   * Makes a random password.
   *
   * `ACL GENPASS [bits]` · O(1) · since 6.0.0
   *
   * @example
   * (await db.aclGenpass()).length; // → 64
   */
  aclGenpass(...options: [...([] | [Word])]): Promise<string>;

  /**
   * Shows a user's flags, password digests and rules.
   *
   * `ACL GETUSER username` · O(N) with N commands · since 6.0.0
   *
   * @example
   * (await db.aclGetuser("default"))?.flags; // → ["on", …]
   */
  aclGetuser(username: Word): Promise<Record<string, Reply> | null>;

  /**
   * Shows all users with their rules, as a file has them.
   *
   * `ACL LIST` · O(N) with N users · since 6.0.0
   *
   * @example
   * await db.aclList(); // → ["user default on …"]
   */
  aclList(): Promise<string[]>;

  /**
   * Takes the users of the file in place of those that are there.
   *
   * `ACL LOAD` · O(N) with N users · since 6.0.0
   *
   * @example
   * await db.aclLoad().catch(String); // → "ServerError: ERR …"
   */
  aclLoad(): Promise<"OK">;

  /**
   * Shows what was refused lately, or forgets it.
   *
   * `ACL LOG [count | RESET]` · O(N) with N entries shown · since 6.0.0
   *
   * @example
   * await db.aclLog(); // → []
   */
  aclLog(...options: [...([] | [Integer] | ["RESET"])]): Promise<Reply[] | "OK">;

  /**
   * Writes the users to the file.
   *
   * `ACL SAVE` · O(N) with N users · since 6.0.0
   *
   * @example
   * await db.aclSave().catch(String); // → "ServerError: ERR …"
   */
  aclSave(): Promise<"OK">;

  /**
   * Makes a user, or changes its passwords and what it may do.
   *
   * `ACL SETUSER username [rule [rule ...]]` · O(N) with N rules · since 6.0.0
   *
   * @example
   * await db.aclSetuser("ann", "on", ">secret", "~cart:*", "+@read"); // → "OK"
   */
  aclSetuser(username: Word, ...options: [...Many<Word>[]]): Promise<"OK">;

  /**
   * Lists the names of all users.
   *
   * `ACL USERS` · O(N) with N users · since 6.0.0
   *
   * @example
   * await db.aclUsers(); // → ["default"]
   */
  aclUsers(): Promise<string[]>;

  /**
   * Tells which user the connection is.
   *
   * `ACL WHOAMI` · O(1) · since 6.0.0
   *
   * @example
   * await db.aclWhoami(); // → null
   */
  aclWhoami(): Promise<string | null>;

  /**
   * Appends to the string at a key, creating it if needed.
   *
   * `APPEND key value` · O(1) amortised · since 2.0.0
   *
   * @example
   * await db.set("k", "ab");
   * await db.append("k", "c"); // → 3
   */
  append(key: Word, value: Word): Promise<number>;

  /**
   * Makes the append-only file as short as the data allows, in the background.
   *
   * `BGREWRITEAOF` · O(1) at once, O(N) with N keys in the background · since 1.0.0
   *
   * @example
   * await db.bgrewriteaof(); // → "Background append only file rewriting started"
   */
  bgrewriteaof(): Promise<string>;

  /**
   * Saves a snapshot to disk in the background.
   *
   * `BGSAVE [SCHEDULE]` · O(1) at once, O(N) with N keys in the background · since 1.0.0
   *
   * @example
   * await db.bgsave(); // → "Background saving started"
   */
  bgsave(...options: [...([] | ["SCHEDULE"])]): Promise<string>;

  /**
   * Counts the bits that are set in a string or a range of it.
   *
   * `BITCOUNT key [start end [BYTE | BIT]]` · O(N) · since 2.6.0
   *
   * @example
   * await db.set("k", "a");
   * await db.bitcount("k"); // → 3
   */
  bitcount(key: Word, ...options: [...([] | [Word, Word, ...([] | ["BYTE"] | ["BIT"])])]): Promise<number>;

  /**
   * Reads, sets and increments integers of any width inside a string.
   *
   * `BITFIELD key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> ...]]` · O(1) for each operation · since 3.2.0
   *
   * @example
   * await db.bitfield("k", [["INCRBY", "u8", 0, 5]]); // → [5]
   */
  bitfield(
    key: Word,
    ...options: [
      ...(
        | []
        | [
            readonly (
              | ["GET", Word, Integer]
              | [
                  ...([] | ["OVERFLOW", "WRAP"] | ["OVERFLOW", "SAT"] | ["OVERFLOW", "FAIL"]),
                  ...(["SET", Word, Integer, Word] | ["INCRBY", Word, Integer, Integer]),
                ]
            )[],
          ]
      ),
    ]
  ): Promise<(number | null)[]>;

  /**
   * Reads integers of any width inside a string.
   *
   * `BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]` · O(1) for each operation · since 6.0.0
   *
   * @example
   * await db.set("k", "a");
   * await db.bitfieldRo("k", [["GET", "u8", 0]]); // → [97]
   */
  bitfieldRo(key: Word, ...options: [...([] | [readonly ["GET", Word, Integer][]])]): Promise<number[]>;

  /**
   * Combines strings bit by bit and stores the result.
   *
   * `BITOP operation destkey key [key ...]` · O(N) · since 2.6.0
   *
   * @example
   * await db.mset({ a: "a", b: "b" });
   * await db.bitop("AND", "both", "a", "b"); // → 1
   */
  bitop(operation: Word, destkey: Word, ...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Finds the first bit that is set, or clear, in a string or a range of it.
   *
   * `BITPOS key bit [start [end [BYTE | BIT]]]` · O(N) · since 2.8.7
   *
   * @example
   * await db.set("k", "a");
   * await db.bitpos("k", 1); // → 1
   */
  bitpos(
    key: Word,
    bit: Integer,
    ...options: [...([] | [Word, ...([] | [Word, ...([] | ["BYTE"] | ["BIT"])])])]
  ): Promise<number>;

  /**
   * Tells the connection's name.
   *
   * `CLIENT GETNAME` · O(1) · since 2.6.9
   *
   * @example
   * await db.clientGetname(); // → …
   */
  clientGetname(): Promise<string | null>;

  /**
   * Tells which client gets the invalidation messages: 0 for this one, -1 for none.
   *
   * `CLIENT GETREDIR` · O(1) · since 6.0.0
   *
   * @example
   * await db.clientGetredir(); // → -1
   */
  clientGetredir(): Promise<number>;

  /**
   * Tells the connection's number, which is never given twice.
   *
   * `CLIENT ID` · O(1) · since 5.0.0
   *
   * @example
   * (await db.clientId()) > 0; // → true
   */
  clientId(): Promise<number>;

  /**
   * Describes this connection in a line.
   *
   * `CLIENT INFO` · O(1) · since 6.2.0
   *
   * @example
   * await db.clientInfo(); // → "id=…"
   */
  clientInfo(): Promise<string>;

  /**
   * Ends connections, by address or by filters.
   *
   * `CLIENT KILL <ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>]> [...]>` · O(N) for N clients · since 2.4.0
   *
   * @example
   * await db.clientKill("ID", 999); // → 0
   */
  clientKill(
    ...options: [
      ...(
        | [Word]
        | ["ID", Integer]
        | ["TYPE", "NORMAL"]
        | ["TYPE", "MASTER"]
        | ["TYPE", "SLAVE"]
        | ["TYPE", "REPLICA"]
        | ["TYPE", "PUBSUB"]
        | ["USER", Word]
        | ["ADDR", Word]
        | ["LADDR", Word]
        | ["SKIPME", "YES"]
        | ["SKIPME", "NO"]
      ),
    ]
  ): Promise<number | "OK">;

  /**
   * Describes the connections, a line each.
   *
   * `CLIENT LIST [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]` · O(N) for N clients · since 2.4.0
   *
   * @example
   * await db.clientList(); // → "id=…"
   */
  clientList(
    ...options: [
      ...([] | ["TYPE", "NORMAL"] | ["TYPE", "MASTER"] | ["TYPE", "REPLICA"] | ["TYPE", "PUBSUB"]),
      ...([] | ["ID", Many<Integer>]),
    ]
  ): Promise<string>;

  /**
   * Puts off all commands, or those that write, for some milliseconds.
   *
   * `CLIENT PAUSE timeout [WRITE | ALL]` · O(1) · since 2.9.50
   *
   * @example
   * await db.clientPause(1, "WRITE"); // → "OK"
   */
  clientPause(timeout: Integer, ...options: [...([] | ["WRITE"] | ["ALL"])]): Promise<"OK">;

  /**
   * Tells how client-side caching is set up for this connection.
   *
   * `CLIENT TRACKINGINFO` · O(1) · since 6.2.0
   *
   * @example
   * (await db.clientTrackinginfo()).flags; // → ["off"]
   */
  clientTrackinginfo(): Promise<Record<string, Reply>>;

  /**
   * Ends another connection's wait in a blocking command.
   *
   * `CLIENT UNBLOCK client-id [TIMEOUT | ERROR]` · O(1) · since 5.0.0
   *
   * @example
   * await db.clientUnblock(999); // → 0
   */
  clientUnblock(clientId: Integer, ...options: [...([] | ["TIMEOUT"] | ["ERROR"])]): Promise<number>;

  /**
   * Ends a pause before its time.
   *
   * `CLIENT UNPAUSE` · O(N) for N clients that wait · since 6.2.0
   *
   * @example
   * await db.clientUnpause(); // → "OK"
   */
  clientUnpause(): Promise<"OK">;

  /**
   * Assigns slots to a node.
   *
   * `CLUSTER ADDSLOTS slot [slot ...]` · O(N) with N slots · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterDelslots(1, 2);
   * await node.clusterAddslots(1, 2); // → "OK"
   */
  clusterAddslots(...slots: [Many<Integer>, ...Many<Integer>[]]): Promise<"OK">;

  /**
   * Assigns ranges of slots to a node.
   *
   * `CLUSTER ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]` · O(N) with N slots · since 7.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterDelslotsrange([[1, 9]]);
   * await node.clusterAddslotsrange([[1, 9]]); // → "OK"
   */
  clusterAddslotsrange(startSlotEndSlot: readonly [Integer, Integer][]): Promise<"OK">;

  /**
   * Advances a node's configuration epoch.
   *
   * `CLUSTER BUMPEPOCH` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterBumpepoch(); // → "STILL 1"
   */
  clusterBumpepoch(): Promise<string>;

  /**
   * Counts the reports that a node has failed.
   *
   * `CLUSTER COUNT-FAILURE-REPORTS node-id` · O(N) with N reports · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterCountFailureReports(nodes[1]!.id); // → 0
   */
  clusterCountFailureReports(nodeId: Word): Promise<number>;

  /**
   * Counts the keys of a slot.
   *
   * `CLUSTER COUNTKEYSINSLOT slot` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.set("greeting", "hello");
   * await node.clusterCountkeysinslot(slotOf("greeting")); // → 1
   */
  clusterCountkeysinslot(slot: Integer): Promise<number>;

  /**
   * Takes slots from a node.
   *
   * `CLUSTER DELSLOTS slot [slot ...]` · O(N) with N slots · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterDelslots(1, 2); // → "OK"
   */
  clusterDelslots(...slots: [Many<Integer>, ...Many<Integer>[]]): Promise<"OK">;

  /**
   * Takes ranges of slots from a node.
   *
   * `CLUSTER DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]` · O(N) with N slots · since 7.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterDelslotsrange([[1, 9]]); // → "OK"
   */
  clusterDelslotsrange(startSlotEndSlot: readonly [Integer, Integer][]): Promise<"OK">;

  /**
   * Makes a replica take its primary's place.
   *
   * `CLUSTER FAILOVER [FORCE | TAKEOVER]` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const replica = await open(nodes[1]!.engine);
   * await replica.clusterFailover("TAKEOVER"); // → "OK"
   */
  clusterFailover(...options: [...([] | ["FORCE"] | ["TAKEOVER"])]): Promise<"OK">;

  /**
   * Takes all slots from a node.
   *
   * `CLUSTER FLUSHSLOTS` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterFlushslots(); // → "OK"
   */
  clusterFlushslots(): Promise<"OK">;

  /**
   * Removes a node from the node table.
   *
   * `CLUSTER FORGET node-id` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterForget(nodes[1]!.id); // → "OK"
   */
  clusterForget(nodeId: Word): Promise<"OK">;

  /**
   * Lists keys of a slot.
   *
   * `CLUSTER GETKEYSINSLOT slot count` · O(log(N)) with N keys · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.set("greeting", "hello");
   * await node.clusterGetkeysinslot(slotOf("greeting"), 10); // → ["greeting"]
   */
  clusterGetkeysinslot(slot: Integer, count: Integer): Promise<string[]>;

  /**
   * Shows the state of the cluster.
   *
   * `CLUSTER INFO` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterInfo(); // → "cluster_state:ok…"
   */
  clusterInfo(): Promise<string>;

  /**
   * Tells the slot of a key.
   *
   * `CLUSTER KEYSLOT key` · O(N) with N bytes · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterKeyslot("greeting"); // → 12714
   */
  clusterKeyslot(key: Word): Promise<number>;

  /**
   * Lists a node's links to its peers.
   *
   * `CLUSTER LINKS` · O(N) with N nodes · since 7.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterLinks(); // → [["direction", …]]
   */
  clusterLinks(): Promise<Reply[]>;

  /**
   * Introduces a node.
   *
   * `CLUSTER MEET ip port [cluster-bus-port]` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterMeet(nodes[1]!.host, nodes[1]!.port); // → "OK"
   */
  clusterMeet(ip: Word, port: Integer, ...options: [...([] | [Word])]): Promise<"OK">;

  /**
   * Tells a node's id.
   *
   * `CLUSTER MYID` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * (await node.clusterMyid()) === nodes[0]!.id; // → true
   */
  clusterMyid(): Promise<string>;

  /**
   * Describes the cluster as a node sees it.
   *
   * `CLUSTER NODES` · O(N) with N nodes · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterNodes(); // → "…myself,master…"
   */
  clusterNodes(): Promise<string>;

  /**
   * Lists the replicas of a node.
   *
   * `CLUSTER REPLICAS node-id` · O(1) · since 5.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterReplicas(nodes[0]!.id); // → ["…slave…"]
   */
  clusterReplicas(nodeId: Word): Promise<string[]>;

  /**
   * Makes a node a replica of another.
   *
   * `CLUSTER REPLICATE node-id` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const replica = await open(nodes[1]!.engine);
   * await replica.clusterReplicate(nodes[0]!.id); // → "OK"
   */
  clusterReplicate(nodeId: Word): Promise<"OK">;

  /**
   * Resets a node.
   *
   * `CLUSTER RESET [HARD | SOFT]` · O(N) with N nodes · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const replica = await open(nodes[1]!.engine);
   * await replica.clusterReset("SOFT"); // → "OK"
   */
  clusterReset(...options: [...([] | ["HARD"] | ["SOFT"])]): Promise<"OK">;

  /**
   * Writes a node's configuration to disk.
   *
   * `CLUSTER SAVECONFIG` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterSaveconfig(); // → "OK"
   */
  clusterSaveconfig(): Promise<"OK">;

  /**
   * Sets the epoch of a new node.
   *
   * `CLUSTER SET-CONFIG-EPOCH config-epoch` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterSetConfigEpoch(5).catch(String); // → "ServerError: ERR …"
   */
  clusterSetConfigEpoch(configEpoch: Word): Promise<"OK">;

  /**
   * Binds a slot to a node.
   *
   * `CLUSTER SETSLOT slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>` · O(1) · since 3.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterSetslot(5, "STABLE"); // → "OK"
   */
  clusterSetslot(
    slot: Integer,
    ...options: [...(["IMPORTING", Word] | ["MIGRATING", Word] | ["NODE", Word] | ["STABLE"])]
  ): Promise<"OK">;

  /**
   * Lists the shards and their nodes.
   *
   * `CLUSTER SHARDS` · O(N) with N nodes · since 7.0.0
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterShards(); // → [{ slots: [0, 16383], …}]
   */
  clusterShards(): Promise<Record<string, Reply>[]>;

  /**
   * Lists the replicas of a node.
   *
   * `CLUSTER SLAVES node-id` · O(1) · since 3.0.0
   * @deprecated Use CLUSTER REPLICAS.
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterSlaves(nodes[0]!.id); // → ["…slave…"]
   */
  clusterSlaves(nodeId: Word): Promise<string[]>;

  /**
   * Lists the slots and their nodes.
   *
   * `CLUSTER SLOTS` · O(N) with N nodes · since 3.0.0
   * @deprecated Use CLUSTER SHARDS.
   *
   * @example
   * const { nodes } = await EngineCluster.open({ primaries: 1, replicas: 1, listen: false });
   * const node = await open(nodes[0]!.engine);
   * await node.clusterSlots(); // → [[0, 16383, …]]
   */
  clusterSlots(): Promise<Reply[]>;

  /**
   * Describes all commands.
   *
   * `COMMAND` · O(N) for N commands · since 2.8.13
   *
   * @example
   * (await db.command()).length > 200; // → true
   */
  command(): Promise<Reply[]>;

  /**
   * Counts the commands.
   *
   * `COMMAND COUNT` · O(1) · since 2.8.13
   *
   * @example
   * (await db.commandCount()) > 200; // → true
   */
  commandCount(): Promise<number>;

  /**
   * Documents commands for people.
   *
   * `COMMAND DOCS [command-name [command-name ...]]` · O(N) for N commands · since 7.0.0
   *
   * @example
   * await db.commandDocs("get"); // → { get: … }
   */
  commandDocs(...options: [...Many<Word>[]]): Promise<Record<string, Reply>>;

  /**
   * Finds the keys in a full command.
   *
   * `COMMAND GETKEYS command [arg [arg ...]]` · O(N) for N arguments · since 2.8.13
   *
   * @example
   * await db.commandGetkeys("MSET", "a", 1, "b", 2); // → ["a", "b"]
   */
  commandGetkeys(command: Word, ...options: [...Many<Word>[]]): Promise<string[]>;

  /**
   * Finds the keys in a full command, with what it does to them.
   *
   * `COMMAND GETKEYSANDFLAGS command [arg [arg ...]]` · O(N) for N arguments · since 7.0.0
   *
   * @example
   * await db.commandGetkeysandflags("GET", "a"); // → [["a", ["RO", "access"]]]
   */
  commandGetkeysandflags(command: Word, ...options: [...Many<Word>[]]): Promise<[string, string[]][]>;

  /**
   * Describes commands for programs.
   *
   * `COMMAND INFO [command-name [command-name ...]]` · O(N) for N commands · since 2.8.13
   *
   * @example
   * await db.commandInfo("get"); // → [["get", 2, …]]
   */
  commandInfo(...options: [...Many<Word>[]]): Promise<(Reply[] | null)[]>;

  /**
   * Lists the names of commands.
   *
   * `COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]` · O(N) for N commands · since 7.0.0
   *
   * @example
   * await db.commandList("FILTERBY", "PATTERN", "zrevrangeby*"); // → ["zrevrangeby…
   */
  commandList(
    ...options: [...([] | ["FILTERBY", "MODULE", Word] | ["FILTERBY", "ACLCAT", Word] | ["FILTERBY", "PATTERN", Word])]
  ): Promise<string[]>;

  /**
   * Shows the directives that match patterns.
   *
   * `CONFIG GET parameter [parameter ...]` · O(N) with N patterns · since 2.0.0
   *
   * @example
   * await db.configGet("maxmemory-policy"); // → { "maxmemory-policy": "noeviction" }
   */
  configGet(...parameters: [Many<Word>, ...Many<Word>[]]): Promise<Record<string, string>>;

  /**
   * Starts the statistics of INFO anew.
   *
   * `CONFIG RESETSTAT` · O(1) · since 2.0.0
   *
   * @example
   * await db.configResetstat(); // → "OK"
   */
  configResetstat(): Promise<"OK">;

  /**
   * Writes the current values into the configuration file, keeping its comments.
   *
   * `CONFIG REWRITE` · O(N) with N directives · since 2.8.0
   *
   * @example
   * await db.configRewrite().catch(String); // → "ServerError: ERR …"
   */
  configRewrite(): Promise<"OK">;

  /**
   * Changes directives, all of them or none.
   *
   * `CONFIG SET parameter value [parameter value ...]` · O(N) with N directives · since 2.0.0
   *
   * @example
   * await db.configSet({ "maxmemory-policy": "allkeys-lru" }); // → "OK"
   */
  configSet(pairs: Pairs): Promise<"OK">;

  /**
   * Copies a key's value and time to live to another key.
   *
   * `COPY source destination [DB destination-db] [REPLACE]` · O(N) in the size of the value · since 6.2.0
   *
   * @example
   * await db.set("a", 1);
   * await db.copy("a", "b"); // → 1
   */
  copy(
    source: Word,
    destination: Word,
    ...options: [...([] | ["DB", Integer]), ...([] | ["REPLACE"])]
  ): Promise<number>;

  /**
   * Counts the keys of the database.
   *
   * `DBSIZE` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.dbsize(); // → 1
   */
  dbsize(): Promise<number>;

  /**
   * Takes one from the integer at a key.
   *
   * `DECR key` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 10);
   * await db.decr("k"); // → 9
   */
  decr(key: Word): Promise<number>;

  /**
   * Takes from the integer at a key.
   *
   * `DECRBY key decrement` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 10);
   * await db.decrby("k", 4); // → 6
   */
  decrby(key: Word, decrement: Integer): Promise<number>;

  /**
   * Deletes keys.
   *
   * `DEL key [key ...]` · O(N) in the number of keys · since 1.0.0
   *
   * @example
   * await db.mset({ a: 1, b: 2 });
   * await db.del("a", "b", "c"); // → 2
   */
  del(...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Returns a value as bytes from which RESTORE makes it again, on any server.
   *
   * `DUMP key` · O(N) in the size of the value · since 2.6.0
   *
   * @example
   * await db.dump("nothing"); // → null
   */
  dump(key: Word): Promise<string | null>;

  /**
   * Returns its argument.
   *
   * `ECHO message` · O(1) · since 1.0.0
   *
   * @example
   * await db.echo("hello"); // → "hello"
   */
  echo(message: Word): Promise<string>;

  /**
   * Runs a script.
   *
   * `EVAL script numkeys [key [key ...]] [arg [arg ...]]` · that of the script · since 2.6.0
   *
   * @example
   * await db.eval("return redis.call('SET', KEYS[1], ARGV[1])", 1, "k", "v"); // → "OK"
   */
  eval(script: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Runs a script that only reads.
   *
   * `EVAL_RO script numkeys [key [key ...]] [arg [arg ...]]` · that of the script · since 7.0.0
   *
   * @example
   * await db.evalRo("return redis.call('GET', KEYS[1])", 1, "k"); // → null
   */
  evalRo(script: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Runs a script that is kept, by its SHA1.
   *
   * `EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]]` · that of the script · since 2.6.0
   *
   * @example
   * const sha = await db.scriptLoad("return 1");
   * await db.evalsha(sha, 0); // → 1
   */
  evalsha(sha1: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Runs a script that is kept and only reads, by its SHA1.
   *
   * `EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]]` · that of the script · since 7.0.0
   *
   * @example
   * const sha = await db.scriptLoad("return 1");
   * await db.evalshaRo(sha, 0); // → 1
   */
  evalshaRo(sha1: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Counts which of these keys exist; a key named twice counts twice.
   *
   * `EXISTS key [key ...]` · O(N) in the number of keys · since 1.0.0
   *
   * @example
   * await db.set("a", 1);
   * await db.exists("a", "b"); // → 1
   */
  exists(...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Makes a key expire after some seconds.
   *
   * `EXPIRE key seconds [NX | XX | GT | LT]` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.expire("k", 60); // → 1
   */
  expire(key: Word, seconds: Integer, ...options: [...([] | ["NX"] | ["XX"] | ["GT"] | ["LT"])]): Promise<number>;

  /**
   * Makes a key expire at a Unix time in seconds.
   *
   * `EXPIREAT key unix-time-seconds [NX | XX | GT | LT]` · O(1) · since 1.2.0
   *
   * @example
   * await db.set("k", 1);
   * await db.expireat("k", 4102444800); // → 1
   */
  expireat(
    key: Word,
    unixTimeSeconds: Integer,
    ...options: [...([] | ["NX"] | ["XX"] | ["GT"] | ["LT"])]
  ): Promise<number>;

  /**
   * Tells at which Unix time in seconds a key expires.
   *
   * `EXPIRETIME key` · O(1) · since 7.0.0
   *
   * @example
   * await db.set("k", 1, "EXAT", 4102444800);
   * await db.expiretime("k"); // → 4102444800
   */
  expiretime(key: Word): Promise<number>;

  /**
   * Has a replica that has everything take this server's place, and follows it.
   *
   * `FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]` · O(1) · since 6.2.0
   *
   * @example
   * await db.failover("ABORT").catch(String); // → "ServerError: ERR No failover…"
   */
  failover(
    ...options: [
      ...([] | ["TO", Word, Integer, ...([] | ["FORCE"])]),
      ...([] | ["ABORT"]),
      ...([] | ["TIMEOUT", Integer]),
    ]
  ): Promise<"OK">;

  /**
   * Calls a function.
   *
   * `FCALL function numkeys [key [key ...]] [arg [arg ...]]` · that of the function · since 7.0.0
   *
   * @example
   * await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * await db.fcall("hi", 0); // → "hello"
   */
  fcall(functionName: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Calls a function that only reads.
   *
   * `FCALL_RO function numkeys [key [key ...]] [arg [arg ...]]` · that of the function · since 7.0.0
   *
   * @example
   * await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * await db.fcallRo("hi", 0); // → "hello"
   */
  fcallRo(functionName: Word, numkeys: Integer, ...options: [...([] | [Many<Word>]), ...Many<Word>[]]): Promise<Reply>;

  /**
   * Removes all keys from all databases.
   *
   * `FLUSHALL [ASYNC | SYNC]` · O(N) with N keys · since 1.0.0
   *
   * @example
   * await db.flushall(); // → "OK"
   */
  flushall(...options: [...([] | ["ASYNC"] | ["SYNC"])]): Promise<"OK">;

  /**
   * Removes all keys from the database.
   *
   * `FLUSHDB [ASYNC | SYNC]` · O(N) with N keys · since 1.0.0
   *
   * @example
   * await db.flushdb(); // → "OK"
   */
  flushdb(...options: [...([] | ["ASYNC"] | ["SYNC"])]): Promise<"OK">;

  /**
   * Removes a library and its functions.
   *
   * `FUNCTION DELETE library-name` · O(N) in the number of its functions · since 7.0.0
   *
   * @example
   * await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * await db.functionDelete("shop"); // → "OK"
   */
  functionDelete(libraryName: Word): Promise<"OK">;

  /**
   * Returns all libraries as bytes from which FUNCTION RESTORE makes them again, on any server.
   *
   * `FUNCTION DUMP` · O(N) in the size of the sources · since 7.0.0
   *
   * @example
   * await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * (await db.functionDump()).length > 0; // → true
   */
  functionDump(): Promise<string>;

  /**
   * Removes all libraries.
   *
   * `FUNCTION FLUSH [ASYNC | SYNC]` · O(1) · since 7.0.0
   *
   * @example
   * await db.functionFlush(); // → "OK"
   */
  functionFlush(...options: [...([] | ["ASYNC"] | ["SYNC"])]): Promise<"OK">;

  /**
   * Ends the running function if it has written nothing.
   *
   * `FUNCTION KILL` · O(1) · since 7.0.0
   *
   * @example
   * await db.functionKill().catch(String); // → "ServerError: NOTBUSY …"
   */
  functionKill(): Promise<"OK">;

  /**
   * Lists libraries with their functions, and their source on request.
   *
   * `FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]` · O(N) in the number of functions · since 7.0.0
   *
   * @example
   * await db.functionList(); // → []
   */
  functionList(...options: [...([] | ["LIBRARYNAME", Word]), ...([] | ["WITHCODE"])]): Promise<Record<string, Reply>[]>;

  /**
   * Makes a library of functions from its source.
   *
   * `FUNCTION LOAD [REPLACE] function-code` · O(1), plus what the library itself does · since 7.0.0
   *
   * @example
   * const library = await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * library; // → "shop"
   */
  functionLoad(...options: [...([] | ["REPLACE"]), Word]): Promise<string>;

  /**
   * Makes libraries from what FUNCTION DUMP returned.
   *
   * `FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]` · O(N) in the number of functions · since 7.0.0
   *
   * @example
   * await db.functionLoad("#!lua name=shop\nredis.register_function{function_name='hi', callback=function() return 'hello' end, flags={'no-writes'}}");
   * const dumped = await db.callBuffer("FUNCTION", "DUMP");
   * await db.functionRestore(dumped as Buffer, "FLUSH"); // → "OK"
   */
  functionRestore(serializedValue: Word, ...options: [...([] | ["FLUSH"] | ["APPEND"] | ["REPLACE"])]): Promise<"OK">;

  /**
   * Tells which function runs, and how many there are.
   *
   * `FUNCTION STATS` · O(1) · since 7.0.0
   *
   * @example
   * (await db.functionStats()).running_script; // → null
   */
  functionStats(): Promise<Record<string, Reply>>;

  /**
   * Adds members with positions, or moves them, creating the key if needed.
   *
   * `GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]` · O(log N) for each member · since 3.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]); // → 1
   */
  geoadd(
    key: Word,
    ...options: [...([] | ["NX"] | ["XX"]), ...([] | ["CH"]), readonly [Double, Double, Word][]]
  ): Promise<number>;

  /**
   * Returns the distance between two members.
   *
   * `GEODIST key member1 member2 [M | KM | FT | MI]` · O(1) · since 3.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"], [15.09, 37.5, "Catania"]]);
   * await db.geodist("cities", "Palermo", "Catania", "KM"); // → "16…"
   */
  geodist(
    key: Word,
    member1: Word,
    member2: Word,
    ...options: [...([] | ["M"] | ["KM"] | ["FT"] | ["MI"])]
  ): Promise<string | null>;

  /**
   * Returns members' positions as standard geohash texts.
   *
   * `GEOHASH key [member [member ...]]` · O(1) for each member · since 3.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.geohash("cities", "Palermo"); // → ["sqc8…"]
   */
  geohash(key: Word, ...options: [...Many<Word>[]]): Promise<(string | null)[]>;

  /**
   * Returns members' longitudes and latitudes.
   *
   * `GEOPOS key [member [member ...]]` · O(1) for each member · since 3.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.geopos("cities", "Palermo"); // → [["13.35999…", "38.11999…"]]
   */
  geopos(key: Word, ...options: [...Many<Word>[]]): Promise<([string, string] | null)[]>;

  /**
   * Returns or stores the members within a radius of a position.
   *
   * `GEORADIUS key longitude latitude radius M | KM | FT | MI [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]` · O(N + log M) for N members in the cells around the shape and M in the key · since 3.2.0
   * @deprecated Use `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument.
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.georadius("cities", 13, 38, 100, "KM"); // → ["Palermo"]
   */
  georadius(
    key: Word,
    longitude: Double,
    latitude: Double,
    radius: Double,
    mKmFtMi: "M" | "KM" | "FT" | "MI",
    ...options: [
      ...([] | ["WITHCOORD"]),
      ...([] | ["WITHDIST"]),
      ...([] | ["WITHHASH"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["STORE", Word]),
      ...([] | ["STOREDIST", Word]),
    ]
  ): Promise<Reply[] | number>;

  /**
   * Returns the members within a radius of a position.
   *
   * `GEORADIUS_RO key longitude latitude radius M | KM | FT | MI [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]` · O(N + log M) for N members in the cells around the shape and M in the key · since 3.2.10
   * @deprecated Use `GEOSEARCH` with the `BYRADIUS` argument.
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.georadiusRo("cities", 13, 38, 100, "KM"); // → ["Palermo"]
   */
  georadiusRo(
    key: Word,
    longitude: Double,
    latitude: Double,
    radius: Double,
    mKmFtMi: "M" | "KM" | "FT" | "MI",
    ...options: [
      ...([] | ["WITHCOORD"]),
      ...([] | ["WITHDIST"]),
      ...([] | ["WITHHASH"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["ASC"] | ["DESC"]),
    ]
  ): Promise<Reply[]>;

  /**
   * Returns or stores the members within a radius of a member.
   *
   * `GEORADIUSBYMEMBER key member radius M | KM | FT | MI [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]` · O(N + log M) for N members in the cells around the shape and M in the key · since 3.2.0
   * @deprecated Use `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments.
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.georadiusbymember("cities", "Palermo", 100, "KM"); // → ["Palermo"]
   */
  georadiusbymember(
    key: Word,
    member: Word,
    radius: Double,
    mKmFtMi: "M" | "KM" | "FT" | "MI",
    ...options: [
      ...([] | ["WITHCOORD"]),
      ...([] | ["WITHDIST"]),
      ...([] | ["WITHHASH"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["STORE", Word]),
      ...([] | ["STOREDIST", Word]),
    ]
  ): Promise<Reply[] | number>;

  /**
   * Returns the members within a radius of a member.
   *
   * `GEORADIUSBYMEMBER_RO key member radius M | KM | FT | MI [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]` · O(N + log M) for N members in the cells around the shape and M in the key · since 3.2.10
   * @deprecated Use `GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments.
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.georadiusbymemberRo("cities", "Palermo", 100, "KM"); // → ["Palermo"]
   */
  georadiusbymemberRo(
    key: Word,
    member: Word,
    radius: Double,
    mKmFtMi: "M" | "KM" | "FT" | "MI",
    ...options: [
      ...([] | ["WITHCOORD"]),
      ...([] | ["WITHDIST"]),
      ...([] | ["WITHHASH"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["ASC"] | ["DESC"]),
    ]
  ): Promise<Reply[]>;

  /**
   * Returns the members within a circle or a box.
   *
   * `GEOSEARCH key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]` · O(N + log M) for N members in the cells around the shape and M in the key · since 6.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.geosearch("cities", "FROMLONLAT", 13, 38, "BYRADIUS", 100, "KM"); // → ["Palermo"]
   */
  geosearch(
    key: Word,
    ...options: [
      ...(["FROMMEMBER", Word] | ["FROMLONLAT", Double, Double]),
      ...(["BYRADIUS", Double, "M" | "KM" | "FT" | "MI"] | ["BYBOX", Double, Double, "M" | "KM" | "FT" | "MI"]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
    ]
  ): Promise<string[]>;
  geosearch(
    key: Word,
    ...options: [
      ...(["FROMMEMBER", Word] | ["FROMLONLAT", Double, Double]),
      ...(["BYRADIUS", Double, "M" | "KM" | "FT" | "MI"] | ["BYBOX", Double, Double, "M" | "KM" | "FT" | "MI"]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      "WITHCOORD",
      ...([] | ["WITHDIST"]),
      ...([] | ["WITHHASH"]),
    ]
  ): Promise<Reply[]>;
  geosearch(
    key: Word,
    ...options: [
      ...(["FROMMEMBER", Word] | ["FROMLONLAT", Double, Double]),
      ...(["BYRADIUS", Double, "M" | "KM" | "FT" | "MI"] | ["BYBOX", Double, Double, "M" | "KM" | "FT" | "MI"]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["WITHCOORD"]),
      "WITHDIST",
      ...([] | ["WITHHASH"]),
    ]
  ): Promise<Reply[]>;
  geosearch(
    key: Word,
    ...options: [
      ...(["FROMMEMBER", Word] | ["FROMLONLAT", Double, Double]),
      ...(["BYRADIUS", Double, "M" | "KM" | "FT" | "MI"] | ["BYBOX", Double, Double, "M" | "KM" | "FT" | "MI"]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["WITHCOORD"]),
      ...([] | ["WITHDIST"]),
      "WITHHASH",
    ]
  ): Promise<Reply[]>;

  /**
   * Keeps the members within a circle or a box in another key.
   *
   * `GEOSEARCHSTORE destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]` · O(N + log M) for N members in the cells around the shape and M in the key · since 6.2.0
   *
   * @example
   * await db.geoadd("cities", [[13.36, 38.12, "Palermo"]]);
   * await db.geosearchstore("near", "cities", "FROMLONLAT", 13, 38, "BYRADIUS", 100, "KM"); // → 1
   */
  geosearchstore(
    destination: Word,
    source: Word,
    ...options: [
      ...(["FROMMEMBER", Word] | ["FROMLONLAT", Double, Double]),
      ...(["BYRADIUS", Double, "M" | "KM" | "FT" | "MI"] | ["BYBOX", Double, Double, "M" | "KM" | "FT" | "MI"]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["COUNT", Integer, ...([] | ["ANY"])]),
      ...([] | ["STOREDIST"]),
    ]
  ): Promise<number>;

  /**
   * Returns the string at a key.
   *
   * `GET key` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", "v");
   * await db.get("k"); // → "v"
   */
  get(key: Word): Promise<string | null>;

  /**
   * Answers one bit of a string.
   *
   * `GETBIT key offset` · O(1) · since 2.2.0
   *
   * @example
   * await db.setbit("k", 7, 1);
   * await db.getbit("k", 7); // → 1
   */
  getbit(key: Word, offset: Integer): Promise<number>;

  /**
   * Returns the string at a key and deletes the key.
   *
   * `GETDEL key` · O(1) · since 6.2.0
   *
   * @example
   * await db.set("k", "v");
   * await db.getdel("k"); // → "v"
   */
  getdel(key: Word): Promise<string | null>;

  /**
   * Returns the string at a key and sets or removes its time to live.
   *
   * `GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]` · O(1) · since 6.2.0
   *
   * @example
   * await db.set("k", "v");
   * await db.getex("k", "EX", 60); // → "v"
   */
  getex(
    key: Word,
    ...options: [...([] | ["EX", Integer] | ["PX", Integer] | ["EXAT", Integer] | ["PXAT", Integer] | ["PERSIST"])]
  ): Promise<string | null>;

  /**
   * Returns part of the string at a key.
   *
   * `GETRANGE key start end` · O(N) in the length of the part · since 2.4.0
   *
   * @example
   * await db.set("k", "hello");
   * await db.getrange("k", 0, 1); // → "he"
   */
  getrange(key: Word, start: Word, end: Word): Promise<string>;

  /**
   * Sets a key to a string and returns the one it held before.
   *
   * `GETSET key value` · O(1) · since 1.0.0
   * @deprecated Use SET with GET.
   *
   * @example
   * await db.set("k", "old");
   * await db.getset("k", "new"); // → "old"
   */
  getset(key: Word, value: Word): Promise<string | null>;

  /**
   * Removes fields, and the hash with the last of them; tells how many were there.
   *
   * `HDEL key field [field ...]` · O(N) with N fields to remove · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 });
   * await db.hdel("h", "a"); // → 1
   */
  hdel(key: Word, ...fields: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Tells whether a hash has a field.
   *
   * `HEXISTS key field` · O(1) · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1 });
   * await db.hexists("h", "a"); // → 1
   */
  hexists(key: Word, field: Word): Promise<number>;

  /**
   * Returns the value of a field.
   *
   * `HGET key field` · O(1) · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1 });
   * await db.hget("h", "a"); // → "1"
   */
  hget(key: Word, field: Word): Promise<string | null>;

  /**
   * Returns all fields and values.
   *
   * `HGETALL key` · O(N) with N fields in the hash · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 });
   * await db.hgetall("h"); // → { a: "1", b: "2" }
   */
  hgetall(key: Word): Promise<Record<string, string>>;

  /**
   * Adds to the integer in a field; a missing field counts as 0.
   *
   * `HINCRBY key field increment` · O(1) · since 2.0.0
   *
   * @example
   * await db.hincrby("h", "visits", 2); // → 2
   */
  hincrby(key: Word, field: Word, increment: Integer): Promise<number>;

  /**
   * Adds to the number in a field; a missing field counts as 0.
   *
   * `HINCRBYFLOAT key field increment` · O(1) · since 2.6.0
   *
   * @example
   * await db.hincrbyfloat("h", "total", 1.5); // → "1.5"
   */
  hincrbyfloat(key: Word, field: Word, increment: Integer): Promise<string>;

  /**
   * Returns all fields.
   *
   * `HKEYS key` · O(N) with N fields in the hash · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 });
   * await db.hkeys("h"); // → ["a", "b"]
   */
  hkeys(key: Word): Promise<string[]>;

  /**
   * Returns how many fields a hash has.
   *
   * `HLEN key` · O(1) · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 });
   * await db.hlen("h"); // → 2
   */
  hlen(key: Word): Promise<number>;

  /**
   * Returns the values of several fields.
   *
   * `HMGET key field [field ...]` · O(N) with N fields asked for · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1 });
   * await db.hmget("h", "a", "b"); // → ["1", null]
   */
  hmget(key: Word, ...fields: [Many<Word>, ...Many<Word>[]]): Promise<(string | null)[]>;

  /**
   * Sets fields of a hash, creating it if needed.
   *
   * `HMSET key field value [field value ...]` · O(N) with N pairs · since 2.0.0
   * @deprecated Use `HSET` with multiple field-value pairs.
   *
   * @example
   * await db.hmset("h", { a: 1 }); // → "OK"
   */
  hmset(key: Word, pairs: Pairs): Promise<"OK">;

  /**
   * Returns fields chosen at random, with their values if wanted; a negative count may repeat them.
   *
   * `HRANDFIELD key [count [WITHVALUES]]` · O(N) with N fields returned · since 6.2.0
   *
   * @example
   * await db.hset("h", { a: 1 });
   * await db.hrandfield("h"); // → "a"
   */
  hrandfield(key: Word): Promise<string | null>;
  hrandfield(key: Word, ...options: [Integer, ...([] | ["WITHVALUES"])]): Promise<string[]>;

  /**
   * Walks through a hash page by page.
   *
   * `HSCAN key cursor [MATCH pattern] [COUNT count]` · O(1) a call, O(N) for all N fields · since 2.8.0
   *
   * @example
   * await db.hset("h", { a: 1 });
   * await db.hscan("h", 0); // → ["0", ["a", "1"]]
   */
  hscan(
    key: Word,
    cursor: Integer,
    ...options: [...([] | ["MATCH", Word]), ...([] | ["COUNT", Integer])]
  ): Promise<[string, string[]]>;

  /**
   * Sets fields of a hash, creating it if needed, and tells how many are new.
   *
   * `HSET key field value [field value ...]` · O(N) with N pairs · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 }); // → 2
   */
  hset(key: Word, pairs: Pairs): Promise<number>;

  /**
   * Sets a field of a hash only if it is not there yet.
   *
   * `HSETNX key field value` · O(1) · since 2.0.0
   *
   * @example
   * await db.hsetnx("h", "a", 1); // → 1
   */
  hsetnx(key: Word, field: Word, value: Word): Promise<number>;

  /**
   * Returns how long a field's value is, in bytes.
   *
   * `HSTRLEN key field` · O(1) · since 3.2.0
   *
   * @example
   * await db.hset("h", { a: "word" });
   * await db.hstrlen("h", "a"); // → 4
   */
  hstrlen(key: Word, field: Word): Promise<number>;

  /**
   * Returns all values.
   *
   * `HVALS key` · O(N) with N fields in the hash · since 2.0.0
   *
   * @example
   * await db.hset("h", { a: 1, b: 2 });
   * await db.hvals("h"); // → ["1", "2"]
   */
  hvals(key: Word): Promise<string[]>;

  /**
   * Adds one to the integer at a key.
   *
   * `INCR key` · O(1) · since 1.0.0
   *
   * @example
   * await db.incr("k"); // → 1
   */
  incr(key: Word): Promise<number>;

  /**
   * Adds to the integer at a key.
   *
   * `INCRBY key increment` · O(1) · since 1.0.0
   *
   * @example
   * await db.incrby("k", 5); // → 5
   */
  incrby(key: Word, increment: Integer): Promise<number>;

  /**
   * Adds to the floating point number at a key.
   *
   * `INCRBYFLOAT key increment` · O(1) · since 2.6.0
   *
   * @example
   * await db.incrbyfloat("k", 0.5); // → "0.5"
   */
  incrbyfloat(key: Word, increment: Integer): Promise<string>;

  /**
   * Shows figures about the server, section by section.
   *
   * `INFO [section [section ...]]` · O(1) · since 1.0.0
   *
   * @example
   * await db.info("server"); // → "# Server…"
   */
  info(...options: [...Many<Word>[]]): Promise<string>;

  /**
   * Returns every key that matches a pattern, in one step: use SCAN on large databases.
   *
   * `KEYS pattern` · O(N) in the number of keys of the database · since 1.0.0
   *
   * @example
   * await db.mset({ "user:1": "a", other: "b" });
   * await db.keys("user:*"); // → ["user:1"]
   */
  keys(pattern: Word): Promise<string[]>;

  /**
   * Tells when data was last saved, in seconds since 1970.
   *
   * `LASTSAVE` · O(1) · since 1.0.0
   *
   * @example
   * (await db.lastsave()) > 0; // → true
   */
  lastsave(): Promise<number>;

  /**
   * Says in words what was slow.
   *
   * `LATENCY DOCTOR` · O(1) · since 2.8.13
   *
   * @example
   * await db.latencyDoctor(); // → "…"
   */
  latencyDoctor(): Promise<string>;

  /**
   * Draws an event's spikes.
   *
   * `LATENCY GRAPH event` · O(1) · since 2.8.13
   *
   * @example
   * await db.latencyGraph("command").catch(String); // → "ServerError: ERR No samples…"
   */
  latencyGraph(event: Word): Promise<string>;

  /**
   * Counts how many calls of commands took how long.
   *
   * `LATENCY HISTOGRAM [command [command ...]]` · O(N) with N commands shown · since 7.0.0
   *
   * @example
   * await db.latencyHistogram("nothing"); // → {}
   */
  latencyHistogram(...options: [...Many<Word>[]]): Promise<Record<string, Reply>>;

  /**
   * Lists an event's spikes.
   *
   * `LATENCY HISTORY event` · O(1) · since 2.8.13
   *
   * @example
   * await db.latencyHistory("command"); // → []
   */
  latencyHistory(event: Word): Promise<[number, number][]>;

  /**
   * Lists every event's last spike.
   *
   * `LATENCY LATEST` · O(1) · since 2.8.13
   *
   * @example
   * await db.latencyLatest(); // → []
   */
  latencyLatest(): Promise<[string, number, number, number][]>;

  /**
   * Forgets spikes.
   *
   * `LATENCY RESET [event [event ...]]` · O(1) · since 2.8.13
   *
   * @example
   * await db.latencyReset(); // → 0
   */
  latencyReset(...options: [...Many<Word>[]]): Promise<number>;

  /**
   * Finds the longest sequence of bytes that two strings have in common.
   *
   * `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]` · O(N*M) · since 7.0.0
   *
   * @example
   * await db.mset({ a: "ohmytext", b: "mynewtext" });
   * await db.lcs("a", "b"); // → "mytext"
   */
  lcs(
    key1: Word,
    key2: Word,
    ...options: [...([] | ["MINMATCHLEN", Integer]), ...([] | ["WITHMATCHLEN"])]
  ): Promise<string>;
  lcs(
    key1: Word,
    key2: Word,
    len: "LEN",
    ...options: [...([] | ["IDX"]), ...([] | ["MINMATCHLEN", Integer]), ...([] | ["WITHMATCHLEN"])]
  ): Promise<number>;
  lcs(
    key1: Word,
    key2: Word,
    ...options: [...([] | ["LEN"]), "IDX", ...([] | ["MINMATCHLEN", Integer]), ...([] | ["WITHMATCHLEN"])]
  ): Promise<Record<string, Reply>>;

  /**
   * Returns the word at an index; negative indexes count from the tail.
   *
   * `LINDEX key index` · O(N) with N words up to the index from the nearer end · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.lindex("l", -1); // → "b"
   */
  lindex(key: Word, index: Integer): Promise<string | null>;

  /**
   * Puts a word before or behind the first that equals another.
   *
   * `LINSERT key BEFORE | AFTER pivot element` · O(N) with N words before the pivot · since 2.2.0
   *
   * @example
   * await db.rpush("l", "a", "c");
   * await db.linsert("l", "BEFORE", "c", "b"); // → 3
   */
  linsert(key: Word, beforeAfter: "BEFORE" | "AFTER", pivot: Word, element: Word): Promise<number>;

  /**
   * Tells how long a list is.
   *
   * `LLEN key` · O(1) · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.llen("l"); // → 2
   */
  llen(key: Word): Promise<number>;

  /**
   * Takes a word off an end of one list and puts it at an end of another, or of the same.
   *
   * `LMOVE source destination LEFT | RIGHT LEFT | RIGHT` · O(1) · since 6.2.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.lmove("l", "other", "LEFT", "RIGHT"); // → "a"
   */
  lmove(
    source: Word,
    destination: Word,
    leftRight: "LEFT" | "RIGHT",
    leftRight2: "LEFT" | "RIGHT",
  ): Promise<string | null>;

  /**
   * Takes words off an end of the first list that is not empty.
   *
   * `LMPOP numkeys key [key ...] LEFT | RIGHT [COUNT count]` · O(K+M) with K keys and M words taken · since 7.0.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.lmpop(1, "l", "LEFT", "COUNT", 2); // → ["l", ["a", "b"]]
   */
  lmpop(
    numkeys: Integer,
    keys: Many<Word>,
    leftRight: "LEFT" | "RIGHT",
    ...options: [...([] | ["COUNT", Integer])]
  ): Promise<[string, string[]] | null>;

  /**
   * Draws something and tells the version.
   *
   * `LOLWUT [VERSION version]` · O(1) · since 5.0.0
   *
   * @example
   * await db.lolwut(); // → "…"
   */
  lolwut(...options: [...([] | ["VERSION", Integer])]): Promise<string>;

  /**
   * Takes the first word, or the first few, off a list.
   *
   * `LPOP key [count]` · O(N) with N words taken · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.lpop("l"); // → "a"
   */
  lpop(key: Word): Promise<string | null>;
  lpop(key: Word, count: Integer): Promise<string[] | null>;

  /**
   * Tells at which index, or at which ones, a list has a word.
   *
   * `LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]` · O(N) with N words looked at · since 6.0.6
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.lpos("l", "b"); // → 1
   */
  lpos(
    key: Word,
    element: Word,
    ...options: [...([] | ["RANK", Integer]), ...([] | ["MAXLEN", Integer])]
  ): Promise<number | null>;
  lpos(
    key: Word,
    element: Word,
    ...options: [...([] | ["RANK", Integer]), "COUNT", Integer, ...([] | ["MAXLEN", Integer])]
  ): Promise<number[]>;

  /**
   * Puts words before the first of a list, one after the other, creating it if needed, and tells its length.
   *
   * `LPUSH key element [element ...]` · O(N) with N words given · since 1.0.0
   *
   * @example
   * await db.lpush("l", "a", "b"); // → 2
   */
  lpush(key: Word, ...elements: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Like LPUSH, but only on a list that exists.
   *
   * `LPUSHX key element [element ...]` · O(N) with N words given · since 2.2.0
   *
   * @example
   * await db.lpushx("nothing", "a"); // → 0
   */
  lpushx(key: Word, ...elements: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Returns the words from one index to another, both included.
   *
   * `LRANGE key start stop` · O(S+N) with S words up to the start from the nearer end and N words returned · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b", "c");
   * await db.lrange("l", 0, -1); // → ["a", "b", "c"]
   */
  lrange(key: Word, start: Word, stop: Word): Promise<string[]>;

  /**
   * Removes words that equal one: the first few, the last few with a negative count, or all with 0.
   *
   * `LREM key count element` · O(N) with the list's length · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b", "a");
   * await db.lrem("l", 0, "a"); // → 2
   */
  lrem(key: Word, count: Integer, element: Word): Promise<number>;

  /**
   * Replaces the word at an index.
   *
   * `LSET key index element` · O(N) with N words up to the index from the nearer end · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a");
   * await db.lset("l", 0, "b"); // → "OK"
   */
  lset(key: Word, index: Integer, element: Word): Promise<"OK">;

  /**
   * Keeps the words from one index to another and removes the others.
   *
   * `LTRIM key start stop` · O(N) with N words removed · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b", "c");
   * await db.ltrim("l", 0, 1); // → "OK"
   */
  ltrim(key: Word, start: Word, stop: Word): Promise<"OK">;

  /**
   * Looks for problems with memory.
   *
   * `MEMORY DOCTOR` · O(1) · since 4.0.0
   *
   * @example
   * await db.memoryDoctor(); // → "…"
   */
  memoryDoctor(): Promise<string>;

  /**
   * Shows the heap's figures.
   *
   * `MEMORY MALLOC-STATS` · O(1) · since 4.0.0
   *
   * @example
   * await db.memoryMallocStats(); // → "…"
   */
  memoryMallocStats(): Promise<string>;

  /**
   * Asks for memory to be given back, where that is possible.
   *
   * `MEMORY PURGE` · O(N) with the size of the heap · since 4.0.0
   *
   * @example
   * await db.memoryPurge(); // → "OK"
   */
  memoryPurge(): Promise<"OK">;

  /**
   * Tells where memory goes.
   *
   * `MEMORY STATS` · O(1) · since 4.0.0
   *
   * @example
   * await db.memoryStats(); // → { "peak.allocated": …}
   */
  memoryStats(): Promise<Record<string, Reply>>;

  /**
   * Tells what a key and its value take, in bytes.
   *
   * `MEMORY USAGE key [SAMPLES count]` · O(1) · since 4.0.0
   *
   * @example
   * await db.memoryUsage("nothing"); // → null
   */
  memoryUsage(key: Word, ...options: [...([] | ["SAMPLES", Integer])]): Promise<number | null>;

  /**
   * Returns the strings at several keys; null for keys that hold none.
   *
   * `MGET key [key ...]` · O(N) in the number of keys · since 1.0.0
   *
   * @example
   * await db.set("a", 1);
   * await db.mget("a", "b"); // → ["1", null]
   */
  mget(...keys: [Many<Word>, ...Many<Word>[]]): Promise<(string | null)[]>;

  /**
   * Moves keys to another server in one step.
   *
   * `MIGRATE host port <key | ""> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] [KEYS key [key ...]]` · that of DUMP and DEL here and of RESTORE there, and O(N) to send the values · since 2.6.0
   *
   * @example
   * const target = await Engine.open();
   * const { port } = await target.listen({ port: 0 });
   * await db.set("k", "v");
   * await db.migrate("127.0.0.1", port, "k", 0, 5_000); // → "OK"
   */
  migrate(
    host: Word,
    port: Integer,
    keyEmptyString: Word | "",
    destinationDb: Integer,
    timeout: Integer,
    ...options: [
      ...([] | ["COPY"]),
      ...([] | ["REPLACE"]),
      ...([] | ["AUTH", Word] | ["AUTH2", Word, Word]),
      ...([] | ["KEYS", Many<Word>]),
    ]
  ): Promise<"OK" | "NOKEY">;

  /**
   * Lists the modules: none.
   *
   * `MODULE LIST` · O(1) · since 4.0.0
   *
   * @example
   * await db.moduleList(); // → []
   */
  moduleList(): Promise<Reply[]>;

  /**
   * Fails: modules cannot be loaded.
   *
   * `MODULE LOAD path [arg [arg ...]]` · O(1) · since 4.0.0
   *
   * @example
   * await db.moduleLoad("/lib/module.so").catch(String); // → "ServerError: ERR …"
   */
  moduleLoad(path: Word, ...options: [...Many<Word>[]]): Promise<"OK">;

  /**
   * Fails: modules cannot be loaded.
   *
   * `MODULE LOADEX path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]` · O(1) · since 7.0.0
   *
   * @example
   * await db.moduleLoadex("/lib/module.so").catch(String); // → "ServerError: ERR …"
   */
  moduleLoadex(
    path: Word,
    ...options: [...([] | [readonly ["CONFIG", Word, Word][]]), ...([] | ["ARGS", Many<Word>])]
  ): Promise<"OK">;

  /**
   * Fails: there is no module.
   *
   * `MODULE UNLOAD name` · O(1) · since 4.0.0
   *
   * @example
   * await db.moduleUnload("module").catch(String); // → "ServerError: ERR …"
   */
  moduleUnload(name: Word): Promise<"OK">;

  /**
   * Moves a key to another database.
   *
   * `MOVE key db` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.move("k", 1); // → 1
   */
  move(key: Word, db: Integer): Promise<number>;

  /**
   * Sets several keys to strings, all at once.
   *
   * `MSET key value [key value ...]` · O(N) in the number of keys · since 1.0.1
   *
   * @example
   * await db.mset({ a: 1, b: 2 }); // → "OK"
   */
  mset(pairs: Pairs): Promise<"OK">;

  /**
   * Sets several keys to strings if none of them exists.
   *
   * `MSETNX key value [key value ...]` · O(N) in the number of keys · since 1.0.1
   *
   * @example
   * await db.msetnx({ a: 1, b: 2 }); // → 1
   */
  msetnx(pairs: Pairs): Promise<number>;

  /**
   * Tells the form in which a value is kept.
   *
   * `OBJECT ENCODING key` · O(1) · since 2.2.3
   *
   * @example
   * await db.set("k", 12);
   * await db.objectEncoding("k"); // → "int"
   */
  objectEncoding(key: Word): Promise<string | null>;

  /**
   * Tells how often a key is used, on a logarithmic scale.
   *
   * `OBJECT FREQ key` · O(1) · since 4.0.0
   *
   * @example
   * await db.configSet({ "maxmemory-policy": "allkeys-lfu" });
   * await db.set("k", "v");
   * await db.objectFreq("k"); // → …
   */
  objectFreq(key: Word): Promise<number | null>;

  /**
   * Tells how many seconds ago a key was last used.
   *
   * `OBJECT IDLETIME key` · O(1) · since 2.2.3
   *
   * @example
   * await db.set("k", 1);
   * await db.objectIdletime("k"); // → 0
   */
  objectIdletime(key: Word): Promise<number | null>;

  /**
   * Tells how many references a value has.
   *
   * `OBJECT REFCOUNT key` · O(1) · since 2.2.3
   *
   * @example
   * await db.set("k", "some text");
   * await db.objectRefcount("k"); // → 1
   */
  objectRefcount(key: Word): Promise<number | null>;

  /**
   * Takes a key's time to live away.
   *
   * `PERSIST key` · O(1) · since 2.2.0
   *
   * @example
   * await db.set("k", 1, "EX", 60);
   * await db.persist("k"); // → 1
   */
  persist(key: Word): Promise<number>;

  /**
   * Makes a key expire after some milliseconds.
   *
   * `PEXPIRE key milliseconds [NX | XX | GT | LT]` · O(1) · since 2.6.0
   *
   * @example
   * await db.set("k", 1);
   * await db.pexpire("k", 60_000); // → 1
   */
  pexpire(key: Word, milliseconds: Integer, ...options: [...([] | ["NX"] | ["XX"] | ["GT"] | ["LT"])]): Promise<number>;

  /**
   * Makes a key expire at a Unix time in milliseconds.
   *
   * `PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]` · O(1) · since 2.6.0
   *
   * @example
   * await db.set("k", 1);
   * await db.pexpireat("k", 4102444800000); // → 1
   */
  pexpireat(
    key: Word,
    unixTimeMilliseconds: Integer,
    ...options: [...([] | ["NX"] | ["XX"] | ["GT"] | ["LT"])]
  ): Promise<number>;

  /**
   * Tells at which Unix time in milliseconds a key expires.
   *
   * `PEXPIRETIME key` · O(1) · since 7.0.0
   *
   * @example
   * await db.set("k", 1, "PXAT", 4102444800000);
   * await db.pexpiretime("k"); // → 4102444800000
   */
  pexpiretime(key: Word): Promise<number>;

  /**
   * Adds elements to a HyperLogLog, creating it if needed.
   *
   * `PFADD key [element [element ...]]` · O(1) for each element · since 2.8.9
   *
   * @example
   * await db.pfadd("visitors", "ann", "bob"); // → 1
   */
  pfadd(key: Word, ...options: [...Many<Word>[]]): Promise<number>;

  /**
   * Estimates how many different elements were added to one HyperLogLog, or to several together.
   *
   * `PFCOUNT key [key ...]` · O(1) for one key, O(N) for N keys · since 2.8.9
   *
   * @example
   * await db.pfadd("visitors", "ann", "bob", "ann");
   * await db.pfcount("visitors"); // → 2
   */
  pfcount(...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Shows the registers or the encoding of a HyperLogLog, or makes it dense.
   *
   * `PFDEBUG subcommand key` · O(N) · since 2.8.9
   *
   * @example
   * await db.pfadd("visitors", "ann");
   * await db.pfdebug("ENCODING", "visitors"); // → "sparse"
   */
  pfdebug(subcommand: Word, key: Word): Promise<Reply>;

  /**
   * Merges HyperLogLogs into one.
   *
   * `PFMERGE destkey [sourcekey [sourcekey ...]]` · O(N) · since 2.8.9
   *
   * @example
   * await db.pfadd("monday", "ann");
   * await db.pfmerge("week", "monday"); // → "OK"
   */
  pfmerge(destkey: Word, ...options: [...Many<Word>[]]): Promise<"OK">;

  /**
   * Answers OK: the encoding is tested where the engine is built.
   *
   * `PFSELFTEST` · O(1) · since 2.8.9
   *
   * @example
   * await db.pfselftest(); // → "OK"
   */
  pfselftest(): Promise<"OK">;

  /**
   * Answers, to show that the server is there.
   *
   * `PING [message]` · O(1) · since 1.0.0
   *
   * @example
   * await db.ping(); // → "PONG"
   */
  ping(): Promise<"PONG">;
  ping(message: Word): Promise<string>;

  /**
   * Sets a key to a string that expires after some milliseconds.
   *
   * `PSETEX key milliseconds value` · O(1) · since 2.6.0
   * @deprecated Use SET with PX.
   *
   * @example
   * await db.psetex("k", 60_000, "v"); // → "OK"
   */
  psetex(key: Word, milliseconds: Integer, value: Word): Promise<"OK">;

  /**
   * Tells how many milliseconds a key has left.
   *
   * `PTTL key` · O(1) · since 2.6.0
   *
   * @example
   * await db.set("k", 1);
   * await db.pttl("k"); // → -1
   */
  pttl(key: Word): Promise<number>;

  /**
   * Sends a message to everybody who listens to a channel and returns how many they are.
   *
   * `PUBLISH channel message` · O(N+M) for N subscribers of the channel and M patterns · since 2.0.0
   *
   * @example
   * await db.publish("news", "hello"); // → 0
   */
  publish(channel: Word, message: Word): Promise<number>;

  /**
   * Lists the channels that somebody listens to.
   *
   * `PUBSUB CHANNELS [pattern]` · O(N) for N channels · since 2.8.0
   *
   * @example
   * await db.pubsubChannels(); // → []
   */
  pubsubChannels(...options: [...([] | [Word])]): Promise<string[]>;

  /**
   * Counts the patterns that somebody listens by.
   *
   * `PUBSUB NUMPAT` · O(1) · since 2.8.0
   *
   * @example
   * await db.pubsubNumpat(); // → 0
   */
  pubsubNumpat(): Promise<number>;

  /**
   * Counts the subscribers of channels.
   *
   * `PUBSUB NUMSUB [channel [channel ...]]` · O(N) for N channels · since 2.8.0
   *
   * @example
   * await db.pubsubNumsub("news"); // → ["news", 0]
   */
  pubsubNumsub(...options: [...Many<Word>[]]): Promise<(string | number)[]>;

  /**
   * Lists the shard channels that somebody listens to.
   *
   * `PUBSUB SHARDCHANNELS [pattern]` · O(N) for N channels · since 7.0.0
   *
   * @example
   * await db.pubsubShardchannels(); // → []
   */
  pubsubShardchannels(...options: [...([] | [Word])]): Promise<string[]>;

  /**
   * Counts the subscribers of shard channels.
   *
   * `PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]` · O(N) for N channels · since 7.0.0
   *
   * @example
   * await db.pubsubShardnumsub("news"); // → ["news", 0]
   */
  pubsubShardnumsub(...options: [...Many<Word>[]]): Promise<(string | number)[]>;

  /**
   * Returns a key at random.
   *
   * `RANDOMKEY` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.randomkey(); // → "k"
   */
  randomkey(): Promise<string | null>;

  /**
   * Gives a key another name, over a key that has it already.
   *
   * `RENAME key newkey` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("a", 1);
   * await db.rename("a", "b"); // → "OK"
   */
  rename(key: Word, newkey: Word): Promise<"OK">;

  /**
   * Gives a key another name if no key has it.
   *
   * `RENAMENX key newkey` · O(1) · since 1.0.0
   *
   * @example
   * await db.mset({ a: 1, b: 2 });
   * await db.renamenx("a", "b"); // → 0
   */
  renamenx(key: Word, newkey: Word): Promise<number>;

  /**
   * Makes this server a replica of another, or a primary.
   *
   * `REPLICAOF <host port | NO ONE>` · O(1) · since 5.0.0
   *
   * @example
   * await db.replicaof("NO", "ONE"); // → "OK"
   */
  replicaof(...options: [...([Word, Integer] | ["NO", "ONE"])]): Promise<"OK">;

  /**
   * Makes a key from what DUMP returned.
   *
   * `RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]` · O(N) in the size of the value · since 2.6.0
   *
   * @example
   * await db.set("a", "v");
   * const dumped = await db.callBuffer("DUMP", "a");
   * await db.restore("b", 0, dumped as Buffer); // → "OK"
   */
  restore(
    key: Word,
    ttl: Integer,
    serializedValue: Word,
    ...options: [
      ...([] | ["REPLACE"]),
      ...([] | ["ABSTTL"]),
      ...([] | ["IDLETIME", Integer]),
      ...([] | ["FREQ", Integer]),
    ]
  ): Promise<"OK">;

  /**
   * Tells whether this is a primary or a replica, and how far replication is.
   *
   * `ROLE` · O(1) · since 2.8.12
   *
   * @example
   * await db.role(); // → ["master", 0, []]
   */
  role(): Promise<Reply[]>;

  /**
   * Takes the last word, or the last few, off a list.
   *
   * `RPOP key [count]` · O(N) with N words taken · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.rpop("l"); // → "b"
   */
  rpop(key: Word): Promise<string | null>;
  rpop(key: Word, count: Integer): Promise<string[] | null>;

  /**
   * Takes the last word off one list and puts it before the first of another, or of the same.
   *
   * `RPOPLPUSH source destination` · O(1) · since 1.2.0
   * @deprecated Use `LMOVE` with the `RIGHT` and `LEFT` arguments.
   *
   * @example
   * await db.rpush("l", "a", "b");
   * await db.rpoplpush("l", "other"); // → "b"
   */
  rpoplpush(source: Word, destination: Word): Promise<string | null>;

  /**
   * Puts words behind the last of a list, creating it if needed, and tells its length.
   *
   * `RPUSH key element [element ...]` · O(N) with N words given · since 1.0.0
   *
   * @example
   * await db.rpush("l", "a", "b"); // → 2
   */
  rpush(key: Word, ...elements: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Like RPUSH, but only on a list that exists.
   *
   * `RPUSHX key element [element ...]` · O(N) with N words given · since 2.2.0
   *
   * @example
   * await db.rpushx("nothing", "a"); // → 0
   */
  rpushx(key: Word, ...elements: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Adds members to a set, creating it if needed, and tells how many are new.
   *
   * `SADD key member [member ...]` · O(N) with N members given · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a", "b"); // → 2
   */
  sadd(key: Word, ...members: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Saves a snapshot to disk while everybody waits.
   *
   * `SAVE` · O(N) with N keys · since 1.0.0
   *
   * @example
   * await db.save(); // → "OK"
   */
  save(): Promise<"OK">;

  /**
   * Goes through the keys of the database, some at a time.
   *
   * `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]` · O(1) for each call, O(N) for all · since 2.8.0
   *
   * @example
   * await db.set("user:1", "ann");
   * await db.scan(0, "MATCH", "user:*"); // → ["0", ["user:1"]]
   */
  scan(
    cursor: Integer,
    ...options: [...([] | ["MATCH", Word]), ...([] | ["COUNT", Integer]), ...([] | ["TYPE", Word])]
  ): Promise<[string, string[]]>;

  /**
   * Returns how many members a set has.
   *
   * `SCARD key` · O(1) · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a", "b");
   * await db.scard("s"); // → 2
   */
  scard(key: Word): Promise<number>;

  /**
   * Tells which scripts are kept.
   *
   * `SCRIPT EXISTS sha1 [sha1 ...]` · O(N) · since 2.6.0
   *
   * @example
   * const sha = await db.scriptLoad("return 1");
   * await db.scriptExists(sha); // → [1]
   */
  scriptExists(...sha1s: [Many<Word>, ...Many<Word>[]]): Promise<number[]>;

  /**
   * Forgets all scripts.
   *
   * `SCRIPT FLUSH [ASYNC | SYNC]` · O(N) · since 2.6.0
   *
   * @example
   * await db.scriptFlush(); // → "OK"
   */
  scriptFlush(...options: [...([] | ["ASYNC"] | ["SYNC"])]): Promise<"OK">;

  /**
   * Ends the running script if it has written nothing.
   *
   * `SCRIPT KILL` · O(N) · since 2.6.0
   *
   * @example
   * await db.scriptKill().catch(String); // → "ServerError: NOTBUSY …"
   */
  scriptKill(): Promise<"OK">;

  /**
   * Keeps a script without running it.
   *
   * `SCRIPT LOAD script` · O(N) · since 2.6.0
   *
   * @example
   * await db.scriptLoad("return 1"); // → "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
   */
  scriptLoad(script: Word): Promise<string>;

  /**
   * Returns the members of the first set that are in none of the others.
   *
   * `SDIFF key [key ...]` · O(N) with N members in all sets together · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1, 2);
   * await db.sadd("b", 2);
   * await db.sdiff("a", "b"); // → ["1"]
   */
  sdiff(...keys: [Many<Word>, ...Many<Word>[]]): Promise<string[]>;

  /**
   * Stores the members of the first set that are in none of the others.
   *
   * `SDIFFSTORE destination key [key ...]` · O(N) with N members in all sets together · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1, 2);
   * await db.sdiffstore("left", "a", "b"); // → 2
   */
  sdiffstore(destination: Word, ...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Sets a key to a string, whatever it held before.
   *
   * `SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", "v", "EX", 60); // → "OK"
   * await db.set("k", "other", "NX"); // → null
   */
  set(
    key: Word,
    value: Word,
    ...options: [
      ...([] | ["NX"] | ["XX"]),
      ...([] | ["EX", Integer] | ["PX", Integer] | ["EXAT", Integer] | ["PXAT", Integer] | ["KEEPTTL"]),
    ]
  ): Promise<"OK" | null>;
  set(
    key: Word,
    value: Word,
    ...options: [
      ...([] | ["NX"] | ["XX"]),
      "GET",
      ...([] | ["EX", Integer] | ["PX", Integer] | ["EXAT", Integer] | ["PXAT", Integer] | ["KEEPTTL"]),
    ]
  ): Promise<string | null>;

  /**
   * Sets or clears one bit of a string and answers what it was.
   *
   * `SETBIT key offset value` · O(1) · since 2.2.0
   *
   * @example
   * await db.setbit("k", 7, 1); // → 0
   */
  setbit(key: Word, offset: Integer, value: Word): Promise<number>;

  /**
   * Sets a key to a string that expires after some seconds.
   *
   * `SETEX key seconds value` · O(1) · since 2.0.0
   * @deprecated Use SET with EX.
   *
   * @example
   * await db.setex("k", 60, "v"); // → "OK"
   */
  setex(key: Word, seconds: Integer, value: Word): Promise<"OK">;

  /**
   * Sets a key to a string if the key does not exist.
   *
   * `SETNX key value` · O(1) · since 1.0.0
   * @deprecated Use SET with NX.
   *
   * @example
   * await db.setnx("k", "v"); // → 1
   */
  setnx(key: Word, value: Word): Promise<number>;

  /**
   * Overwrites part of the string at a key, from an offset on.
   *
   * `SETRANGE key offset value` · O(M) in the length of the value · since 2.2.0
   *
   * @example
   * await db.set("k", "hello");
   * await db.setrange("k", 1, "a"); // → 5
   */
  setrange(key: Word, offset: Integer, value: Word): Promise<number>;

  /**
   * Returns the members that are in all of the sets.
   *
   * `SINTER key [key ...]` · O(N*M) with N members in the smallest of M sets · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1, 2);
   * await db.sadd("b", 2);
   * await db.sinter("a", "b"); // → ["2"]
   */
  sinter(...keys: [Many<Word>, ...Many<Word>[]]): Promise<string[]>;

  /**
   * Returns how many members are in all of the sets, counting no further than the limit.
   *
   * `SINTERCARD numkeys key [key ...] [LIMIT limit]` · O(N*M) with N members in the smallest of M sets · since 7.0.0
   *
   * @example
   * await db.sadd("a", 1, 2);
   * await db.sadd("b", 2);
   * await db.sintercard(2, ["a", "b"]); // → 1
   */
  sintercard(numkeys: Integer, keys: Many<Word>, ...options: [...([] | ["LIMIT", Integer])]): Promise<number>;

  /**
   * Stores the members that are in all of the sets.
   *
   * `SINTERSTORE destination key [key ...]` · O(N*M) with N members in the smallest of M sets · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1, 2);
   * await db.sadd("b", 2);
   * await db.sinterstore("both", "a", "b"); // → 1
   */
  sinterstore(destination: Word, ...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Tells whether a word is in a set.
   *
   * `SISMEMBER key member` · O(1) · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.sismember("s", "a"); // → 1
   */
  sismember(key: Word, member: Word): Promise<number>;

  /**
   * Makes this server a replica of another, or a primary.
   *
   * `SLAVEOF <host port | NO ONE>` · O(1) · since 1.0.0
   * @deprecated Use `REPLICAOF`.
   *
   * @example
   * await db.slaveof("NO", "ONE"); // → "OK"
   */
  slaveof(...options: [...([Word, Integer] | ["NO", "ONE"])]): Promise<"OK">;

  /**
   * Shows the newest entries of the slow log.
   *
   * `SLOWLOG GET [count]` · O(N) with N entries shown · since 2.2.12
   *
   * @example
   * (await db.slowlogGet(10)).length; // → …
   */
  slowlogGet(...options: [...([] | [Integer])]): Promise<Reply[]>;

  /**
   * Counts the entries of the slow log.
   *
   * `SLOWLOG LEN` · O(1) · since 2.2.12
   *
   * @example
   * await db.slowlogLen(); // → …
   */
  slowlogLen(): Promise<number>;

  /**
   * Empties the slow log.
   *
   * `SLOWLOG RESET` · O(N) with N entries · since 2.2.12
   *
   * @example
   * await db.slowlogReset(); // → "OK"
   */
  slowlogReset(): Promise<"OK">;

  /**
   * Returns all members of a set.
   *
   * `SMEMBERS key` · O(N) with N members in the set · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.smembers("s"); // → ["a"]
   */
  smembers(key: Word): Promise<string[]>;

  /**
   * Tells for each of several words whether it is in a set.
   *
   * `SMISMEMBER key member [member ...]` · O(N) with N members asked for · since 6.2.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.smismember("s", "a", "b"); // → [1, 0]
   */
  smismember(key: Word, ...members: [Many<Word>, ...Many<Word>[]]): Promise<number[]>;

  /**
   * Moves a member from one set to another.
   *
   * `SMOVE source destination member` · O(1) · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.smove("s", "other", "a"); // → 1
   */
  smove(source: Word, destination: Word, member: Word): Promise<number>;

  /**
   * Returns or stores the elements of a list, a set or a sorted set, sorted by themselves or by other keys.
   *
   * `SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] [STORE destination]` · O(N log N) with N elements; O(N) without sorting · since 1.0.0
   *
   * @example
   * await db.rpush("l", 3, 1, 2);
   * await db.sort("l", "DESC"); // → ["3", "2", "1"]
   */
  sort(
    key: Word,
    ...options: [
      ...([] | ["BY", Word]),
      ...([] | ["LIMIT", Integer, Integer]),
      ...([] | [readonly ["GET", Word][]]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["ALPHA"]),
    ]
  ): Promise<(string | null)[]>;
  sort(
    key: Word,
    ...options: [
      ...([] | ["BY", Word]),
      ...([] | ["LIMIT", Integer, Integer]),
      ...([] | [readonly ["GET", Word][]]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["ALPHA"]),
      "STORE",
      Word,
    ]
  ): Promise<number>;

  /**
   * Returns the elements of a list, a set or a sorted set, sorted by themselves or by other keys.
   *
   * `SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]` · O(N log N) with N elements; O(N) without sorting · since 7.0.0
   *
   * @example
   * await db.rpush("l", 3, 1, 2);
   * await db.sortRo("l"); // → ["1", "2", "3"]
   */
  sortRo(
    key: Word,
    ...options: [
      ...([] | ["BY", Word]),
      ...([] | ["LIMIT", Integer, Integer]),
      ...([] | [readonly ["GET", Word][]]),
      ...([] | ["ASC"] | ["DESC"]),
      ...([] | ["ALPHA"]),
    ]
  ): Promise<(string | null)[]>;

  /**
   * Takes members out of a set at random and returns them.
   *
   * `SPOP key [count]` · O(N) with N members taken out · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.spop("s"); // → "a"
   */
  spop(key: Word): Promise<string | null>;
  spop(key: Word, count: Integer): Promise<string[]>;

  /**
   * Sends a message to everybody who listens to a shard channel and returns how many they are.
   *
   * `SPUBLISH shardchannel message` · O(N) for N subscribers of the channel · since 7.0.0
   *
   * @example
   * await db.spublish("news", "hello"); // → 0
   */
  spublish(shardchannel: Word, message: Word): Promise<number>;

  /**
   * Returns members chosen at random; a negative count may repeat them.
   *
   * `SRANDMEMBER key [count]` · O(N) with N members returned · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.srandmember("s"); // → "a"
   */
  srandmember(key: Word): Promise<string | null>;
  srandmember(key: Word, count: Integer): Promise<string[]>;

  /**
   * Removes members, and the set with the last of them; tells how many were there.
   *
   * `SREM key member [member ...]` · O(N) with N members given · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a", "b");
   * await db.srem("s", "a"); // → 1
   */
  srem(key: Word, ...members: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Walks through a set page by page.
   *
   * `SSCAN key cursor [MATCH pattern] [COUNT count]` · O(1) a call, O(N) for all N members · since 2.8.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.sscan("s", 0); // → ["0", ["a"]]
   */
  sscan(
    key: Word,
    cursor: Integer,
    ...options: [...([] | ["MATCH", Word]), ...([] | ["COUNT", Integer])]
  ): Promise<[string, string[]]>;

  /**
   * Returns the length of the string at a key.
   *
   * `STRLEN key` · O(1) · since 2.2.0
   *
   * @example
   * await db.set("k", "hello");
   * await db.strlen("k"); // → 5
   */
  strlen(key: Word): Promise<number>;

  /**
   * Returns part of the string at a key.
   *
   * `SUBSTR key start end` · O(N) in the length of the part · since 1.0.0
   * @deprecated Use GETRANGE.
   *
   * @example
   * await db.set("k", "hello");
   * await db.substr("k", 0, 1); // → "he"
   */
  substr(key: Word, start: Word, end: Word): Promise<string>;

  /**
   * Returns the members that are in any of the sets.
   *
   * `SUNION key [key ...]` · O(N) with N members in all sets together · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1);
   * await db.sadd("b", 2);
   * await db.sunion("a", "b"); // → ["1", "2"]
   */
  sunion(...keys: [Many<Word>, ...Many<Word>[]]): Promise<string[]>;

  /**
   * Stores the members that are in any of the sets.
   *
   * `SUNIONSTORE destination key [key ...]` · O(N) with N members in all sets together · since 1.0.0
   *
   * @example
   * await db.sadd("a", 1);
   * await db.sunionstore("all", "a", "b"); // → 1
   */
  sunionstore(destination: Word, ...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Exchanges two databases.
   *
   * `SWAPDB index1 index2` · O(N) with N clients that watch or wait for keys in them · since 4.0.0
   *
   * @example
   * await db.swapdb(0, 1); // → "OK"
   */
  swapdb(index1: Integer, index2: Integer): Promise<"OK">;

  /**
   * Tells the server's time: seconds, and microseconds within the second.
   *
   * `TIME` · O(1) · since 2.6.0
   *
   * @example
   * const [seconds, microseconds] = await db.time();
   * Number(seconds) > 0 && Number(microseconds) >= 0; // → true
   */
  time(): Promise<[string, string]>;

  /**
   * Renews the access time of keys and counts those that exist.
   *
   * `TOUCH key [key ...]` · O(N) in the number of keys · since 3.2.1
   *
   * @example
   * await db.set("a", 1);
   * await db.touch("a", "b"); // → 1
   */
  touch(...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Tells how many seconds a key has left.
   *
   * `TTL key` · O(1) · since 1.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.ttl("k"); // → -1
   */
  ttl(key: Word): Promise<number>;

  /**
   * Tells what a key holds.
   *
   * `TYPE key` · O(1) · since 1.0.0
   *
   * @example
   * await db.sadd("s", "a");
   * await db.type("s"); // → "set"
   */
  type(key: Word): Promise<string>;

  /**
   * Deletes keys; their memory is reclaimed in the background.
   *
   * `UNLINK key [key ...]` · O(1) for each key · since 4.0.0
   *
   * @example
   * await db.set("k", 1);
   * await db.unlink("k"); // → 1
   */
  unlink(...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Acknowledges entries, so that their group holds them as pending no longer.
   *
   * `XACK key group id [id ...]` · O(log(P)) per id with P entries pending · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xack("x", "workers", "1-1"); // → 1
   */
  xack(key: Word, group: Word, ...ids: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Appends an entry to a stream, making the stream if needed and trimming it if asked.
   *
   * `XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]` · O(1), plus O(N) for N entries that trimming removes · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" }); // → "1-1"
   */
  xadd(
    key: Word,
    ...options: [
      ...([] | ["NOMKSTREAM"]),
      ...([] | ["MAXLEN" | "MINID", ...([] | ["="] | ["~"]), Word, ...([] | ["LIMIT", Integer])]),
      "*" | Word,
      Pairs,
    ]
  ): Promise<string | null>;

  /**
   * Claims the next entries that have been pending for some time, from any consumer.
   *
   * `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]` · O(M log(P)) for M entries looked at with P pending · since 6.2.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xautoclaim("x", "workers", "w2", 0, "0"); // → ["0-0", [["1-1", ["name", "ann"]]], []]
   */
  xautoclaim(
    key: Word,
    group: Word,
    consumer: Word,
    minIdleTime: Word,
    start: Word,
    ...options: [...([] | ["COUNT", Integer])]
  ): Promise<[string, (StreamEntry | null)[], string[]]>;
  xautoclaim(
    key: Word,
    group: Word,
    consumer: Word,
    minIdleTime: Word,
    start: Word,
    ...options: [...([] | ["COUNT", Integer]), "JUSTID"]
  ): Promise<[string, string[], string[]]>;

  /**
   * Gives pending entries to another consumer as if they had been delivered to it.
   *
   * `XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]` · O(log(P)) per id with P entries pending · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xclaim("x", "workers", "w2", 0, "1-1"); // → [["1-1", ["name", "ann"]]]
   */
  xclaim(
    key: Word,
    group: Word,
    consumer: Word,
    minIdleTime: Word,
    ids: Many<Word>,
    ...options: [
      ...([] | ["IDLE", Integer]),
      ...([] | ["TIME", Integer]),
      ...([] | ["RETRYCOUNT", Integer]),
      ...([] | ["FORCE"]),
      ...([] | ["LASTID", Word]),
    ]
  ): Promise<(StreamEntry | null)[]>;
  xclaim(
    key: Word,
    group: Word,
    consumer: Word,
    minIdleTime: Word,
    ids: Many<Word>,
    ...options: [
      ...([] | ["IDLE", Integer]),
      ...([] | ["TIME", Integer]),
      ...([] | ["RETRYCOUNT", Integer]),
      ...([] | ["FORCE"]),
      "JUSTID",
      ...([] | ["LASTID", Word]),
    ]
  ): Promise<string[]>;

  /**
   * Deletes entries by their ids and says how many there were.
   *
   * `XDEL key id [id ...]` · O(log(B)) per id in a stream of B blocks · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xdel("x", "1-1"); // → 1
   */
  xdel(key: Word, ...ids: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Makes a consumer group.
   *
   * `XGROUP CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]` · O(1) · since 5.0.0
   *
   * @example
   * await db.xgroupCreate("x", "workers", "$", "MKSTREAM"); // → "OK"
   */
  xgroupCreate(
    key: Word,
    group: Word,
    idNewId: Word | "$",
    ...options: [...([] | ["MKSTREAM"]), ...([] | ["ENTRIESREAD", Integer])]
  ): Promise<"OK">;

  /**
   * Adds a consumer to a group.
   *
   * `XGROUP CREATECONSUMER key group consumer` · O(1) · since 6.2.0
   *
   * @example
   * await db.xgroupCreate("x", "workers", "$", "MKSTREAM");
   * await db.xgroupCreateconsumer("x", "workers", "w1"); // → 1
   */
  xgroupCreateconsumer(key: Word, group: Word, consumer: Word): Promise<number>;

  /**
   * Removes a consumer from a group and says how many entries were pending for it.
   *
   * `XGROUP DELCONSUMER key group consumer` · O(P) for P entries pending for the consumer · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xgroupDelconsumer("x", "workers", "w1"); // → 1
   */
  xgroupDelconsumer(key: Word, group: Word, consumer: Word): Promise<number>;

  /**
   * Removes a consumer group with what is pending in it.
   *
   * `XGROUP DESTROY key group` · O(C) for C consumers · since 5.0.0
   *
   * @example
   * await db.xgroupCreate("x", "workers", "$", "MKSTREAM");
   * await db.xgroupDestroy("x", "workers"); // → 1
   */
  xgroupDestroy(key: Word, group: Word): Promise<number>;

  /**
   * Sets the id that a consumer group goes on behind.
   *
   * `XGROUP SETID key group <id | $> [ENTRIESREAD entries-read]` · O(1) · since 5.0.0
   *
   * @example
   * await db.xgroupCreate("x", "workers", "$", "MKSTREAM");
   * await db.xgroupSetid("x", "workers", 0); // → "OK"
   */
  xgroupSetid(
    key: Word,
    group: Word,
    idNewId: Word | "$",
    ...options: [...([] | ["ENTRIESREAD", Integer])]
  ): Promise<"OK">;

  /**
   * Lists the consumers of a group.
   *
   * `XINFO CONSUMERS key group` · O(C) for C consumers · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xinfoConsumers("x", "workers"); // → [{ name: "w1", pending: 1, …}]
   */
  xinfoConsumers(key: Word, group: Word): Promise<Record<string, Reply>[]>;

  /**
   * Lists the consumer groups of a stream.
   *
   * `XINFO GROUPS key` · O(G) for G groups · since 5.0.0
   *
   * @example
   * await db.xgroupCreate("x", "workers", "$", "MKSTREAM");
   * await db.xinfoGroups("x"); // → [{ name: "workers", … }]
   */
  xinfoGroups(key: Word): Promise<Record<string, Reply>[]>;

  /**
   * Describes a stream, with FULL down to what is pending for each consumer.
   *
   * `XINFO STREAM key [FULL [COUNT count]]` · O(B) for B blocks, plus O(N) for N entries that FULL shows · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * (await db.xinfoStream("x")).length; // → 1
   */
  xinfoStream(
    key: Word,
    ...options: [...([] | ["FULL", ...([] | ["COUNT", Integer])])]
  ): Promise<Record<string, Reply>>;

  /**
   * Counts the entries of a stream.
   *
   * `XLEN key` · O(1) · since 5.0.0
   *
   * @example
   * await db.xlen("nothing"); // → 0
   */
  xlen(key: Word): Promise<number>;

  /**
   * Shows what a group has delivered and nobody has acknowledged, as a summary or entry by entry.
   *
   * `XPENDING key group [[IDLE min-idle-time] start end count [consumer]]` · O(C) for the summary of C consumers; O(log(P) + M) for M of P pending entries · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">");
   * await db.xpending("x", "workers"); // → [1, "1-1", "1-1", [["w1", "1"]]]
   */
  xpending(key: Word, group: Word): Promise<[number, string | null, string | null, [string, string][] | null]>;
  xpending(
    key: Word,
    group: Word,
    ...options: [...([] | ["IDLE", Word]), Word, Word, Integer, ...([] | [Word])]
  ): Promise<[string, string, number, number][]>;

  /**
   * Returns the entries between two ids, oldest first.
   *
   * `XRANGE key start end [COUNT count]` · O(log(B) + M) for M entries returned from a stream of B blocks · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xrange("x", "-", "+"); // → [["1-1", ["name", "ann"]]]
   */
  xrange(key: Word, start: Word, end: Word, ...options: [...([] | ["COUNT", Integer])]): Promise<StreamEntry[]>;

  /**
   * Returns the entries of streams behind given ids, waiting for one if asked.
   *
   * `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]` · O(log(B) + M) per stream of B blocks for M entries returned · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xread("STREAMS", "x", 0); // → [["x", [["1-1", ["name", "ann"]]]]]
   */
  xread(
    ...options: [...([] | ["COUNT", Integer]), "STREAMS", Many<Word>, Many<Word>]
  ): Promise<[string, StreamEntry[]][] | null>;

  /**
   * Reads streams as a consumer of a group: new entries, or its own that it has not acknowledged.
   *
   * `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]` · O(log(B) + M) per stream of B blocks for M entries returned · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await db.xreadgroup("GROUP", "workers", "w1", "STREAMS", "x", ">"); // → [["x", [["1-1", ["name", "ann"]]]]]
   */
  xreadgroup(
    ...options: [
      "GROUP",
      Word,
      Word,
      ...([] | ["COUNT", Integer]),
      ...([] | ["NOACK"]),
      "STREAMS",
      Many<Word>,
      Many<Word>,
    ]
  ): Promise<[string, (StreamEntry | [string, null])[]][] | null>;

  /**
   * Returns the entries between two ids, newest first.
   *
   * `XREVRANGE key end start [COUNT count]` · O(log(B) + M) for M entries returned from a stream of B blocks · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xrevrange("x", "+", "-"); // → [["1-1", ["name", "ann"]]]
   */
  xrevrange(key: Word, end: Word, start: Word, ...options: [...([] | ["COUNT", Integer])]): Promise<StreamEntry[]>;

  /**
   * Sets a stream's last id and its counters; meant for files and replicas.
   *
   * `XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]` · O(1) · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xsetid("x", "2-0"); // → "OK"
   */
  xsetid(
    key: Word,
    lastId: Word,
    ...options: [...([] | ["ENTRIESADDED", Integer]), ...([] | ["MAXDELETEDID", Word])]
  ): Promise<"OK">;

  /**
   * Removes the oldest entries, down to a length or up to an id.
   *
   * `XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]` · O(N) for N entries removed; whole blocks count as one · since 5.0.0
   *
   * @example
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xtrim("x", "MAXLEN", 0); // → 1
   */
  xtrim(
    key: Word,
    maxlenMinid: "MAXLEN" | "MINID",
    ...options: [...([] | ["="] | ["~"]), Word, ...([] | ["LIMIT", Integer])]
  ): Promise<number>;

  /**
   * Adds members to a sorted set or changes their scores, creating it if needed.
   *
   * `ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]` · O(log N) for each member · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 }); // → 2
   */
  zadd(
    key: Word,
    ...options: [...([] | ["NX"] | ["XX"]), ...([] | ["GT"] | ["LT"]), ...([] | ["CH"]), Scores]
  ): Promise<number>;
  zadd(
    key: Word,
    ...options: [...([] | ["NX"] | ["XX"]), ...([] | ["GT"] | ["LT"]), ...([] | ["CH"]), "INCR", Scores]
  ): Promise<string | null>;

  /**
   * Returns how many members a sorted set has.
   *
   * `ZCARD key` · O(1) · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zcard("z"); // → 2
   */
  zcard(key: Word): Promise<number>;

  /**
   * Returns how many members have a score in a range.
   *
   * `ZCOUNT key min max` · O(log N) · since 2.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zcount("z", "(1", "+inf"); // → 1
   */
  zcount(key: Word, min: Word, max: Word): Promise<number>;

  /**
   * Returns the members of the first sorted set that are in none of the others.
   *
   * `ZDIFF numkeys key [key ...] [WITHSCORES]` · O(N K + M log M) for N members in the first of K sets, M in the result · since 6.2.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zdiff(2, ["a", "b"]); // → ["ann"]
   */
  zdiff(numkeys: Integer, keys: Many<Word>, ...options: [...([] | ["WITHSCORES"])]): Promise<string[]>;

  /**
   * Keeps the members of the first sorted set that are in none of the others in a key.
   *
   * `ZDIFFSTORE destination numkeys key [key ...]` · O(N K + M log M) for N members in the first of K sets, M in the result · since 6.2.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zdiffstore("left", 2, ["a", "b"]); // → 1
   */
  zdiffstore(destination: Word, numkeys: Integer, ...keys: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Adds a number to a member's score and returns the sum.
   *
   * `ZINCRBY key increment member` · O(log N) · since 1.2.0
   *
   * @example
   * await db.zincrby("z", 2, "ann"); // → "2"
   */
  zincrby(key: Word, increment: Integer, member: Word): Promise<string>;

  /**
   * Returns the members that are in all of several sorted sets.
   *
   * `ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]` · O(N K + M log M) for the smallest of K sets with N members, M in the result · since 6.2.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zinter(2, ["a", "b"]); // → ["bob"]
   */
  zinter(
    numkeys: Integer,
    keys: Many<Word>,
    ...options: [
      ...([] | ["WEIGHTS", Many<Double>]),
      ...([] | ["AGGREGATE", "SUM"] | ["AGGREGATE", "MIN"] | ["AGGREGATE", "MAX"]),
      ...([] | ["WITHSCORES"]),
    ]
  ): Promise<string[]>;

  /**
   * Returns how many members are in all of several sorted sets.
   *
   * `ZINTERCARD numkeys key [key ...] [LIMIT limit]` · O(N K) for the smallest of K sets with N members · since 7.0.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zintercard(2, ["a", "b"]); // → 1
   */
  zintercard(numkeys: Integer, keys: Many<Word>, ...options: [...([] | ["LIMIT", Integer])]): Promise<number>;

  /**
   * Keeps the members that are in all of several sorted sets in a key.
   *
   * `ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]` · O(N K + M log M) for the smallest of K sets with N members, M in the result · since 2.0.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zinterstore("both", 2, ["a", "b"], "WEIGHTS", [1, 2]); // → 1
   */
  zinterstore(
    destination: Word,
    numkeys: Integer,
    keys: Many<Word>,
    ...options: [
      ...([] | ["WEIGHTS", Many<Double>]),
      ...([] | ["AGGREGATE", "SUM"] | ["AGGREGATE", "MIN"] | ["AGGREGATE", "MAX"]),
    ]
  ): Promise<number>;

  /**
   * Returns how many members lie in a range of words; all scores must be equal.
   *
   * `ZLEXCOUNT key min max` · O(log N) · since 2.8.9
   *
   * @example
   * await db.zadd("z", { a: 0, b: 0 });
   * await db.zlexcount("z", "-", "[a"); // → 1
   */
  zlexcount(key: Word, min: Word, max: Word): Promise<number>;

  /**
   * Removes and returns members from an end of the first sorted set that is not empty.
   *
   * `ZMPOP numkeys key [key ...] MIN | MAX [COUNT count]` · O(K + M log N) for K keys and M members · since 7.0.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zmpop(2, ["a", "b"], "MAX"); // → ["a", [["bob", "2"]]]
   */
  zmpop(
    numkeys: Integer,
    keys: Many<Word>,
    minMax: "MIN" | "MAX",
    ...options: [...([] | ["COUNT", Integer])]
  ): Promise<[string, [string, string][]] | null>;

  /**
   * Returns the scores of several members.
   *
   * `ZMSCORE key member [member ...]` · O(M) for M members · since 6.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1 });
   * await db.zmscore("z", "ann", "bob"); // → ["1", null]
   */
  zmscore(key: Word, ...members: [Many<Word>, ...Many<Word>[]]): Promise<(string | null)[]>;

  /**
   * Removes and returns the members with the highest scores.
   *
   * `ZPOPMAX key [count]` · O(M log N) for M members · since 5.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zpopmax("z"); // → ["bob", "2"]
   */
  zpopmax(key: Word, ...options: [...([] | [Integer])]): Promise<string[]>;

  /**
   * Removes and returns the members with the lowest scores.
   *
   * `ZPOPMIN key [count]` · O(M log N) for M members · since 5.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zpopmin("z"); // → ["ann", "1"]
   */
  zpopmin(key: Word, ...options: [...([] | [Integer])]): Promise<string[]>;

  /**
   * Returns members chosen by chance.
   *
   * `ZRANDMEMBER key [count [WITHSCORES]]` · O(M log N) for M members returned · since 6.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1 });
   * await db.zrandmember("z"); // → "ann"
   */
  zrandmember(key: Word): Promise<string | null>;
  zrandmember(key: Word, ...options: [Integer, ...([] | ["WITHSCORES"])]): Promise<string[]>;

  /**
   * Returns the members of a range of ranks, scores or words.
   *
   * `ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]` · O(log N + M) for M members returned · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrange("z", 0, -1, "REV"); // → ["bob", "ann"]
   */
  zrange(
    key: Word,
    start: Word,
    stop: Word,
    ...options: [
      ...([] | ["BYSCORE"] | ["BYLEX"]),
      ...([] | ["REV"]),
      ...([] | ["LIMIT", Integer, Integer]),
      ...([] | ["WITHSCORES"]),
    ]
  ): Promise<string[]>;

  /**
   * Returns the members of a range of words; all scores must be equal.
   *
   * `ZRANGEBYLEX key min max [LIMIT offset count]` · O(log N + M) for M members returned · since 2.8.9
   * @deprecated Use `ZRANGE` with the `BYLEX` argument.
   *
   * @example
   * await db.zadd("z", { a: 0, b: 0 });
   * await db.zrangebylex("z", "-", "[a"); // → ["a"]
   */
  zrangebylex(key: Word, min: Word, max: Word, ...options: [...([] | ["LIMIT", Integer, Integer])]): Promise<string[]>;

  /**
   * Returns the members of a range of scores.
   *
   * `ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]` · O(log N + M) for M members returned · since 1.0.5
   * @deprecated Use `ZRANGE` with the `BYSCORE` argument.
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrangebyscore("z", 2, "+inf"); // → ["bob"]
   */
  zrangebyscore(
    key: Word,
    min: Word,
    max: Word,
    ...options: [...([] | ["WITHSCORES"]), ...([] | ["LIMIT", Integer, Integer])]
  ): Promise<string[]>;

  /**
   * Keeps the members of a range in another key and returns how many they are.
   *
   * `ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]` · O(log N + M) for M members stored · since 6.2.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zrangestore("top", "a", 0, 0, "REV"); // → 1
   */
  zrangestore(
    dst: Word,
    src: Word,
    min: Word,
    max: Word,
    ...options: [...([] | ["BYSCORE"] | ["BYLEX"]), ...([] | ["REV"]), ...([] | ["LIMIT", Integer, Integer])]
  ): Promise<number>;

  /**
   * Tells how many members come before this one, lowest score first.
   *
   * `ZRANK key member` · O(log N) · since 2.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrank("z", "bob"); // → 1
   */
  zrank(key: Word, member: Word): Promise<number | null>;

  /**
   * Removes members; the key goes with the last one.
   *
   * `ZREM key member [member ...]` · O(M log N) for M members · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1 });
   * await db.zrem("z", "ann"); // → 1
   */
  zrem(key: Word, ...members: [Many<Word>, ...Many<Word>[]]): Promise<number>;

  /**
   * Removes the members in a range of words; all scores must be equal.
   *
   * `ZREMRANGEBYLEX key min max` · O(log N + M) for M members removed · since 2.8.9
   *
   * @example
   * await db.zadd("z", { a: 0, b: 0 });
   * await db.zremrangebylex("z", "-", "[a"); // → 1
   */
  zremrangebylex(key: Word, min: Word, max: Word): Promise<number>;

  /**
   * Removes the members of a range of ranks.
   *
   * `ZREMRANGEBYRANK key start stop` · O(log N + M) for M members removed · since 2.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zremrangebyrank("z", 0, 0); // → 1
   */
  zremrangebyrank(key: Word, start: Word, stop: Word): Promise<number>;

  /**
   * Removes the members with a score in a range.
   *
   * `ZREMRANGEBYSCORE key min max` · O(log N + M) for M members removed · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zremrangebyscore("z", "-inf", 1); // → 1
   */
  zremrangebyscore(key: Word, min: Word, max: Word): Promise<number>;

  /**
   * Returns the members of a range of ranks, highest score first.
   *
   * `ZREVRANGE key start stop [WITHSCORES]` · O(log N + M) for M members returned · since 1.2.0
   * @deprecated Use `ZRANGE` with the `REV` argument.
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrevrange("z", 0, 0); // → ["bob"]
   */
  zrevrange(key: Word, start: Word, stop: Word, ...options: [...([] | ["WITHSCORES"])]): Promise<string[]>;

  /**
   * Returns the members of a range of words, last first; all scores must be equal.
   *
   * `ZREVRANGEBYLEX key max min [LIMIT offset count]` · O(log N + M) for M members returned · since 2.8.9
   * @deprecated Use `ZRANGE` with the `REV` and `BYLEX` arguments.
   *
   * @example
   * await db.zadd("z", { a: 0, b: 0 });
   * await db.zrevrangebylex("z", "+", "-"); // → ["b", "a"]
   */
  zrevrangebylex(
    key: Word,
    max: Word,
    min: Word,
    ...options: [...([] | ["LIMIT", Integer, Integer])]
  ): Promise<string[]>;

  /**
   * Returns the members of a range of scores, highest first.
   *
   * `ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]` · O(log N + M) for M members returned · since 2.2.0
   * @deprecated Use `ZRANGE` with the `REV` and `BYSCORE` arguments.
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrevrangebyscore("z", "+inf", 2); // → ["bob"]
   */
  zrevrangebyscore(
    key: Word,
    max: Word,
    min: Word,
    ...options: [...([] | ["WITHSCORES"]), ...([] | ["LIMIT", Integer, Integer])]
  ): Promise<string[]>;

  /**
   * Tells how many members come before this one, highest score first.
   *
   * `ZREVRANK key member` · O(log N) · since 2.0.0
   *
   * @example
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await db.zrevrank("z", "bob"); // → 0
   */
  zrevrank(key: Word, member: Word): Promise<number | null>;

  /**
   * Walks through members and scores, some at a time.
   *
   * `ZSCAN key cursor [MATCH pattern] [COUNT count]` · O(1) for each call, O(N) for the whole walk · since 2.8.0
   *
   * @example
   * await db.zadd("z", { ann: 1 });
   * await db.zscan("z", 0); // → ["0", ["ann", "1"]]
   */
  zscan(
    key: Word,
    cursor: Integer,
    ...options: [...([] | ["MATCH", Word]), ...([] | ["COUNT", Integer])]
  ): Promise<[string, string[]]>;

  /**
   * Returns a member's score.
   *
   * `ZSCORE key member` · O(1) · since 1.2.0
   *
   * @example
   * await db.zadd("z", { ann: 1 });
   * await db.zscore("z", "ann"); // → "1"
   */
  zscore(key: Word, member: Word): Promise<string | null>;

  /**
   * Returns the members that are in any of several sorted sets.
   *
   * `ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]` · O(N + M log M) for N members in all, M in the result · since 6.2.0
   *
   * @example
   * await db.zadd("a", { ann: 1 });
   * await db.zadd("b", { bob: 2 });
   * await db.zunion(2, ["a", "b"]); // → ["ann", "bob"]
   */
  zunion(
    numkeys: Integer,
    keys: Many<Word>,
    ...options: [
      ...([] | ["WEIGHTS", Many<Double>]),
      ...([] | ["AGGREGATE", "SUM"] | ["AGGREGATE", "MIN"] | ["AGGREGATE", "MAX"]),
      ...([] | ["WITHSCORES"]),
    ]
  ): Promise<string[]>;

  /**
   * Keeps the members that are in any of several sorted sets in a key.
   *
   * `ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]` · O(N + M log M) for N members in all, M in the result · since 2.0.0
   *
   * @example
   * await db.zadd("a", { ann: 1, bob: 2 });
   * await db.zadd("b", { bob: 2 });
   * await db.zunionstore("all", 2, ["a", "b"], "AGGREGATE", "MAX"); // → 2
   */
  zunionstore(
    destination: Word,
    numkeys: Integer,
    keys: Many<Word>,
    ...options: [
      ...([] | ["WEIGHTS", Many<Double>]),
      ...([] | ["AGGREGATE", "SUM"] | ["AGGREGATE", "MIN"] | ["AGGREGATE", "MAX"]),
    ]
  ): Promise<number>;
}

/** Commands that wait on the server. */
export interface BlockingCommands {
  /**
   * Like LMOVE, but waits until the source has a word.
   *
   * `BLMOVE source destination LEFT | RIGHT LEFT | RIGHT timeout` · O(1) · since 6.2.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.rpush("todo", "job");
   * await waiting.blmove("todo", "doing", "LEFT", "RIGHT", 5); // → "job"
   */
  blmove(
    source: Word,
    destination: Word,
    leftRight: "LEFT" | "RIGHT",
    leftRight2: "LEFT" | "RIGHT",
    timeout: Integer,
  ): Promise<string | null>;

  /**
   * Like LMPOP, but waits until one of the lists has words.
   *
   * `BLMPOP timeout numkeys key [key ...] LEFT | RIGHT [COUNT count]` · O(K+M) with K keys and M words taken · since 7.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.rpush("todo", "a", "b");
   * await waiting.blmpop(5, 1, "todo", "LEFT", "COUNT", 10); // → ["todo", ["a", "b"]]
   */
  blmpop(
    timeout: Integer,
    numkeys: Integer,
    keys: Many<Word>,
    leftRight: "LEFT" | "RIGHT",
    ...options: [...([] | ["COUNT", Integer])]
  ): Promise<[string, string[]] | null>;

  /**
   * Takes the first word off the first list that is not empty, waiting for one if all are.
   *
   * `BLPOP key [key ...] timeout` · O(N) with N keys given · since 2.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.rpush("todo", "job");
   * await waiting.blpop("todo", 5); // → ["todo", "job"]
   */
  blpop(keys: Many<Word>, timeout: Integer): Promise<[string, string] | null>;

  /**
   * Takes the last word off the first list that is not empty, waiting for one if all are.
   *
   * `BRPOP key [key ...] timeout` · O(N) with N keys given · since 2.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.rpush("todo", "a", "b");
   * await waiting.brpop("todo", 5); // → ["todo", "b"]
   */
  brpop(keys: Many<Word>, timeout: Integer): Promise<[string, string] | null>;

  /**
   * Like RPOPLPUSH, but waits until the source has a word.
   *
   * `BRPOPLPUSH source destination timeout` · O(1) · since 2.2.0
   * @deprecated Use `BLMOVE` with the `RIGHT` and `LEFT` arguments.
   *
   * @example
   * const waiting = db.blocking();
   * await db.rpush("todo", "job");
   * await waiting.brpoplpush("todo", "doing", 5); // → "job"
   */
  brpoplpush(source: Word, destination: Word, timeout: Integer): Promise<string | null>;

  /**
   * Like ZMPOP, but waits until one of the sorted sets has members.
   *
   * `BZMPOP timeout numkeys key [key ...] MIN | MAX [COUNT count]` · O(K + M log N) for K keys and M members · since 7.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await waiting.bzmpop(5, 1, "z", "MIN"); // → ["z", [["ann", "1"]]]
   */
  bzmpop(
    timeout: Integer,
    numkeys: Integer,
    keys: Many<Word>,
    minMax: "MIN" | "MAX",
    ...options: [...([] | ["COUNT", Integer])]
  ): Promise<[string, [string, string][]] | null>;

  /**
   * Removes and returns the member with the highest score, waiting for one if there is none.
   *
   * `BZPOPMAX key [key ...] timeout` · O(log N) · since 5.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await waiting.bzpopmax("z", 5); // → ["z", "bob", "2"]
   */
  bzpopmax(keys: Many<Word>, timeout: Integer): Promise<[string, string, string] | null>;

  /**
   * Removes and returns the member with the lowest score, waiting for one if there is none.
   *
   * `BZPOPMIN key [key ...] timeout` · O(log N) · since 5.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.zadd("z", { ann: 1, bob: 2 });
   * await waiting.bzpopmin("z", 5); // → ["z", "ann", "1"]
   */
  bzpopmin(keys: Many<Word>, timeout: Integer): Promise<[string, string, string] | null>;

  /**
   * Returns the entries of streams behind given ids, waiting for one if asked.
   *
   * `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]` · O(log(B) + M) per stream of B blocks for M entries returned · since 5.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.xadd("x", "1-1", { name: "ann" });
   * await waiting.xread("BLOCK", 5_000, "STREAMS", "x", 0); // → [["x", [["1-1", ["name", "ann"]]]]]
   */
  xread(
    ...options: [...([] | ["COUNT", Integer]), ...([] | ["BLOCK", Integer]), "STREAMS", Many<Word>, Many<Word>]
  ): Promise<[string, StreamEntry[]][] | null>;

  /**
   * Reads streams as a consumer of a group: new entries, or its own that it has not acknowledged.
   *
   * `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]` · O(log(B) + M) per stream of B blocks for M entries returned · since 5.0.0
   *
   * @example
   * const waiting = db.blocking();
   * await db.xadd("x", "1-1", { name: "ann" });
   * await db.xgroupCreate("x", "workers", 0);
   * await waiting.xreadgroup("GROUP", "workers", "w1", "BLOCK", 5_000, "STREAMS", "x", ">"); // → [["x", [["1-1", ["name", "ann"]]]]]
   */
  xreadgroup(
    ...options: [
      "GROUP",
      Word,
      Word,
      ...([] | ["COUNT", Integer]),
      ...([] | ["BLOCK", Integer]),
      ...([] | ["NOACK"]),
      "STREAMS",
      Many<Word>,
      Many<Word>,
    ]
  ): Promise<[string, (StreamEntry | [string, null])[]][] | null>;
}

/** What a command answers, by its name: for `call`, pipelines and transactions. */
export interface Replies {
  APPEND: number;
  BGREWRITEAOF: string;
  BGSAVE: string;
  BITCOUNT: number;
  BITFIELD: (number | null)[];
  BITFIELD_RO: number[];
  BITOP: number;
  BITPOS: number;
  COMMAND: Reply[];
  COPY: number;
  DBSIZE: number;
  DECR: number;
  DECRBY: number;
  DEL: number;
  DUMP: string | null;
  ECHO: string;
  EVAL: Reply;
  EVAL_RO: Reply;
  EVALSHA: Reply;
  EVALSHA_RO: Reply;
  EXISTS: number;
  EXPIRE: number;
  EXPIREAT: number;
  EXPIRETIME: number;
  FAILOVER: "OK";
  FCALL: Reply;
  FCALL_RO: Reply;
  FLUSHALL: "OK";
  FLUSHDB: "OK";
  GEOADD: number;
  GEODIST: string | null;
  GEOHASH: (string | null)[];
  GEOPOS: ([string, string] | null)[];
  GEORADIUS: Reply[] | number;
  GEORADIUS_RO: Reply[];
  GEORADIUSBYMEMBER: Reply[] | number;
  GEORADIUSBYMEMBER_RO: Reply[];
  GEOSEARCH: string[] | Reply[];
  GEOSEARCHSTORE: number;
  GET: string | null;
  GETBIT: number;
  GETDEL: string | null;
  GETEX: string | null;
  GETRANGE: string;
  GETSET: string | null;
  HDEL: number;
  HEXISTS: number;
  HGET: string | null;
  HGETALL: string[];
  HINCRBY: number;
  HINCRBYFLOAT: string;
  HKEYS: string[];
  HLEN: number;
  HMGET: (string | null)[];
  HMSET: "OK";
  HRANDFIELD: string | null | string[];
  HSCAN: [string, string[]];
  HSET: number;
  HSETNX: number;
  HSTRLEN: number;
  HVALS: string[];
  INCR: number;
  INCRBY: number;
  INCRBYFLOAT: string;
  INFO: string;
  KEYS: string[];
  LASTSAVE: number;
  LCS: string | number | (string | Reply)[];
  LINDEX: string | null;
  LINSERT: number;
  LLEN: number;
  LMOVE: string | null;
  LMPOP: [string, string[]] | null;
  LOLWUT: string;
  LPOP: string | null | string[] | null;
  LPOS: number | null | number[];
  LPUSH: number;
  LPUSHX: number;
  LRANGE: string[];
  LREM: number;
  LSET: "OK";
  LTRIM: "OK";
  MGET: (string | null)[];
  MIGRATE: "OK" | "NOKEY";
  MOVE: number;
  MSET: "OK";
  MSETNX: number;
  PERSIST: number;
  PEXPIRE: number;
  PEXPIREAT: number;
  PEXPIRETIME: number;
  PFADD: number;
  PFCOUNT: number;
  PFDEBUG: Reply;
  PFMERGE: "OK";
  PFSELFTEST: "OK";
  PING: "PONG" | string;
  PSETEX: "OK";
  PTTL: number;
  PUBLISH: number;
  RANDOMKEY: string | null;
  RENAME: "OK";
  RENAMENX: number;
  REPLICAOF: "OK";
  RESTORE: "OK";
  ROLE: Reply[];
  RPOP: string | null | string[] | null;
  RPOPLPUSH: string | null;
  RPUSH: number;
  RPUSHX: number;
  SADD: number;
  SAVE: "OK";
  SCAN: [string, string[]];
  SCARD: number;
  SDIFF: string[];
  SDIFFSTORE: number;
  SET: "OK" | null | string | null;
  SETBIT: number;
  SETEX: "OK";
  SETNX: number;
  SETRANGE: number;
  SINTER: string[];
  SINTERCARD: number;
  SINTERSTORE: number;
  SISMEMBER: number;
  SLAVEOF: "OK";
  SMEMBERS: string[];
  SMISMEMBER: number[];
  SMOVE: number;
  SORT: (string | null)[] | number;
  SORT_RO: (string | null)[];
  SPOP: string | null | string[];
  SPUBLISH: number;
  SRANDMEMBER: string | null | string[];
  SREM: number;
  SSCAN: [string, string[]];
  STRLEN: number;
  SUBSTR: string;
  SUNION: string[];
  SUNIONSTORE: number;
  SWAPDB: "OK";
  TIME: [string, string];
  TOUCH: number;
  TTL: number;
  TYPE: string;
  UNLINK: number;
  XACK: number;
  XADD: string | null;
  XAUTOCLAIM: [string, (StreamEntry | null)[], string[]] | [string, string[], string[]];
  XCLAIM: (StreamEntry | null)[] | string[];
  XDEL: number;
  XLEN: number;
  XPENDING: [number, string | null, string | null, [string, string][] | null] | [string, string, number, number][];
  XRANGE: StreamEntry[];
  XREAD: [string, StreamEntry[]][] | null;
  XREADGROUP: [string, (StreamEntry | [string, null])[]][] | null;
  XREVRANGE: StreamEntry[];
  XSETID: "OK";
  XTRIM: number;
  ZADD: number | string | null;
  ZCARD: number;
  ZCOUNT: number;
  ZDIFF: string[];
  ZDIFFSTORE: number;
  ZINCRBY: string;
  ZINTER: string[];
  ZINTERCARD: number;
  ZINTERSTORE: number;
  ZLEXCOUNT: number;
  ZMPOP: [string, [string, string][]] | null;
  ZMSCORE: (string | null)[];
  ZPOPMAX: string[];
  ZPOPMIN: string[];
  ZRANDMEMBER: string | null | string[];
  ZRANGE: string[];
  ZRANGEBYLEX: string[];
  ZRANGEBYSCORE: string[];
  ZRANGESTORE: number;
  ZRANK: number | null;
  ZREM: number;
  ZREMRANGEBYLEX: number;
  ZREMRANGEBYRANK: number;
  ZREMRANGEBYSCORE: number;
  ZREVRANGE: string[];
  ZREVRANGEBYLEX: string[];
  ZREVRANGEBYSCORE: string[];
  ZREVRANK: number | null;
  ZSCAN: [string, string[]];
  ZSCORE: string | null;
  ZUNION: string[];
  ZUNIONSTORE: number;
}

export const MAP = "map";
export const MAPS = "maps";
export const SCORES = "scores";

export type Form = typeof MAP | typeof MAPS | typeof SCORES;

/** The words of a method's command; where its reply is a map or a list of maps, or its pairs have their values first, that. */
export const COMMANDS: Readonly<Record<keyof Commands, readonly [words: string, form?: Form]>> = {
  aclCat: ["ACL CAT"],
  aclDeluser: ["ACL DELUSER"],
  aclDryrun: ["ACL DRYRUN"],
  aclGenpass: ["ACL GENPASS"],
  aclGetuser: ["ACL GETUSER", MAP],
  aclList: ["ACL LIST"],
  aclLoad: ["ACL LOAD"],
  aclLog: ["ACL LOG"],
  aclSave: ["ACL SAVE"],
  aclSetuser: ["ACL SETUSER"],
  aclUsers: ["ACL USERS"],
  aclWhoami: ["ACL WHOAMI"],
  append: ["APPEND"],
  bgrewriteaof: ["BGREWRITEAOF"],
  bgsave: ["BGSAVE"],
  bitcount: ["BITCOUNT"],
  bitfield: ["BITFIELD"],
  bitfieldRo: ["BITFIELD_RO"],
  bitop: ["BITOP"],
  bitpos: ["BITPOS"],
  clientGetname: ["CLIENT GETNAME"],
  clientGetredir: ["CLIENT GETREDIR"],
  clientId: ["CLIENT ID"],
  clientInfo: ["CLIENT INFO"],
  clientKill: ["CLIENT KILL"],
  clientList: ["CLIENT LIST"],
  clientPause: ["CLIENT PAUSE"],
  clientTrackinginfo: ["CLIENT TRACKINGINFO", MAP],
  clientUnblock: ["CLIENT UNBLOCK"],
  clientUnpause: ["CLIENT UNPAUSE"],
  clusterAddslots: ["CLUSTER ADDSLOTS"],
  clusterAddslotsrange: ["CLUSTER ADDSLOTSRANGE"],
  clusterBumpepoch: ["CLUSTER BUMPEPOCH"],
  clusterCountFailureReports: ["CLUSTER COUNT-FAILURE-REPORTS"],
  clusterCountkeysinslot: ["CLUSTER COUNTKEYSINSLOT"],
  clusterDelslots: ["CLUSTER DELSLOTS"],
  clusterDelslotsrange: ["CLUSTER DELSLOTSRANGE"],
  clusterFailover: ["CLUSTER FAILOVER"],
  clusterFlushslots: ["CLUSTER FLUSHSLOTS"],
  clusterForget: ["CLUSTER FORGET"],
  clusterGetkeysinslot: ["CLUSTER GETKEYSINSLOT"],
  clusterInfo: ["CLUSTER INFO"],
  clusterKeyslot: ["CLUSTER KEYSLOT"],
  clusterLinks: ["CLUSTER LINKS"],
  clusterMeet: ["CLUSTER MEET"],
  clusterMyid: ["CLUSTER MYID"],
  clusterNodes: ["CLUSTER NODES"],
  clusterReplicas: ["CLUSTER REPLICAS"],
  clusterReplicate: ["CLUSTER REPLICATE"],
  clusterReset: ["CLUSTER RESET"],
  clusterSaveconfig: ["CLUSTER SAVECONFIG"],
  clusterSetConfigEpoch: ["CLUSTER SET-CONFIG-EPOCH"],
  clusterSetslot: ["CLUSTER SETSLOT"],
  clusterShards: ["CLUSTER SHARDS", MAPS],
  clusterSlaves: ["CLUSTER SLAVES"],
  clusterSlots: ["CLUSTER SLOTS"],
  command: ["COMMAND"],
  commandCount: ["COMMAND COUNT"],
  commandDocs: ["COMMAND DOCS", MAP],
  commandGetkeys: ["COMMAND GETKEYS"],
  commandGetkeysandflags: ["COMMAND GETKEYSANDFLAGS"],
  commandInfo: ["COMMAND INFO"],
  commandList: ["COMMAND LIST"],
  configGet: ["CONFIG GET", MAP],
  configResetstat: ["CONFIG RESETSTAT"],
  configRewrite: ["CONFIG REWRITE"],
  configSet: ["CONFIG SET"],
  copy: ["COPY"],
  dbsize: ["DBSIZE"],
  decr: ["DECR"],
  decrby: ["DECRBY"],
  del: ["DEL"],
  dump: ["DUMP"],
  echo: ["ECHO"],
  eval: ["EVAL"],
  evalRo: ["EVAL_RO"],
  evalsha: ["EVALSHA"],
  evalshaRo: ["EVALSHA_RO"],
  exists: ["EXISTS"],
  expire: ["EXPIRE"],
  expireat: ["EXPIREAT"],
  expiretime: ["EXPIRETIME"],
  failover: ["FAILOVER"],
  fcall: ["FCALL"],
  fcallRo: ["FCALL_RO"],
  flushall: ["FLUSHALL"],
  flushdb: ["FLUSHDB"],
  functionDelete: ["FUNCTION DELETE"],
  functionDump: ["FUNCTION DUMP"],
  functionFlush: ["FUNCTION FLUSH"],
  functionKill: ["FUNCTION KILL"],
  functionList: ["FUNCTION LIST", MAPS],
  functionLoad: ["FUNCTION LOAD"],
  functionRestore: ["FUNCTION RESTORE"],
  functionStats: ["FUNCTION STATS", MAP],
  geoadd: ["GEOADD"],
  geodist: ["GEODIST"],
  geohash: ["GEOHASH"],
  geopos: ["GEOPOS"],
  georadius: ["GEORADIUS"],
  georadiusRo: ["GEORADIUS_RO"],
  georadiusbymember: ["GEORADIUSBYMEMBER"],
  georadiusbymemberRo: ["GEORADIUSBYMEMBER_RO"],
  geosearch: ["GEOSEARCH"],
  geosearchstore: ["GEOSEARCHSTORE"],
  get: ["GET"],
  getbit: ["GETBIT"],
  getdel: ["GETDEL"],
  getex: ["GETEX"],
  getrange: ["GETRANGE"],
  getset: ["GETSET"],
  hdel: ["HDEL"],
  hexists: ["HEXISTS"],
  hget: ["HGET"],
  hgetall: ["HGETALL", MAP],
  hincrby: ["HINCRBY"],
  hincrbyfloat: ["HINCRBYFLOAT"],
  hkeys: ["HKEYS"],
  hlen: ["HLEN"],
  hmget: ["HMGET"],
  hmset: ["HMSET"],
  hrandfield: ["HRANDFIELD"],
  hscan: ["HSCAN"],
  hset: ["HSET"],
  hsetnx: ["HSETNX"],
  hstrlen: ["HSTRLEN"],
  hvals: ["HVALS"],
  incr: ["INCR"],
  incrby: ["INCRBY"],
  incrbyfloat: ["INCRBYFLOAT"],
  info: ["INFO"],
  keys: ["KEYS"],
  lastsave: ["LASTSAVE"],
  latencyDoctor: ["LATENCY DOCTOR"],
  latencyGraph: ["LATENCY GRAPH"],
  latencyHistogram: ["LATENCY HISTOGRAM", MAP],
  latencyHistory: ["LATENCY HISTORY"],
  latencyLatest: ["LATENCY LATEST"],
  latencyReset: ["LATENCY RESET"],
  lcs: ["LCS"],
  lindex: ["LINDEX"],
  linsert: ["LINSERT"],
  llen: ["LLEN"],
  lmove: ["LMOVE"],
  lmpop: ["LMPOP"],
  lolwut: ["LOLWUT"],
  lpop: ["LPOP"],
  lpos: ["LPOS"],
  lpush: ["LPUSH"],
  lpushx: ["LPUSHX"],
  lrange: ["LRANGE"],
  lrem: ["LREM"],
  lset: ["LSET"],
  ltrim: ["LTRIM"],
  memoryDoctor: ["MEMORY DOCTOR"],
  memoryMallocStats: ["MEMORY MALLOC-STATS"],
  memoryPurge: ["MEMORY PURGE"],
  memoryStats: ["MEMORY STATS", MAP],
  memoryUsage: ["MEMORY USAGE"],
  mget: ["MGET"],
  migrate: ["MIGRATE"],
  moduleList: ["MODULE LIST"],
  moduleLoad: ["MODULE LOAD"],
  moduleLoadex: ["MODULE LOADEX"],
  moduleUnload: ["MODULE UNLOAD"],
  move: ["MOVE"],
  mset: ["MSET"],
  msetnx: ["MSETNX"],
  objectEncoding: ["OBJECT ENCODING"],
  objectFreq: ["OBJECT FREQ"],
  objectIdletime: ["OBJECT IDLETIME"],
  objectRefcount: ["OBJECT REFCOUNT"],
  persist: ["PERSIST"],
  pexpire: ["PEXPIRE"],
  pexpireat: ["PEXPIREAT"],
  pexpiretime: ["PEXPIRETIME"],
  pfadd: ["PFADD"],
  pfcount: ["PFCOUNT"],
  pfdebug: ["PFDEBUG"],
  pfmerge: ["PFMERGE"],
  pfselftest: ["PFSELFTEST"],
  ping: ["PING"],
  psetex: ["PSETEX"],
  pttl: ["PTTL"],
  publish: ["PUBLISH"],
  pubsubChannels: ["PUBSUB CHANNELS"],
  pubsubNumpat: ["PUBSUB NUMPAT"],
  pubsubNumsub: ["PUBSUB NUMSUB"],
  pubsubShardchannels: ["PUBSUB SHARDCHANNELS"],
  pubsubShardnumsub: ["PUBSUB SHARDNUMSUB"],
  randomkey: ["RANDOMKEY"],
  rename: ["RENAME"],
  renamenx: ["RENAMENX"],
  replicaof: ["REPLICAOF"],
  restore: ["RESTORE"],
  role: ["ROLE"],
  rpop: ["RPOP"],
  rpoplpush: ["RPOPLPUSH"],
  rpush: ["RPUSH"],
  rpushx: ["RPUSHX"],
  sadd: ["SADD"],
  save: ["SAVE"],
  scan: ["SCAN"],
  scard: ["SCARD"],
  scriptExists: ["SCRIPT EXISTS"],
  scriptFlush: ["SCRIPT FLUSH"],
  scriptKill: ["SCRIPT KILL"],
  scriptLoad: ["SCRIPT LOAD"],
  sdiff: ["SDIFF"],
  sdiffstore: ["SDIFFSTORE"],
  set: ["SET"],
  setbit: ["SETBIT"],
  setex: ["SETEX"],
  setnx: ["SETNX"],
  setrange: ["SETRANGE"],
  sinter: ["SINTER"],
  sintercard: ["SINTERCARD"],
  sinterstore: ["SINTERSTORE"],
  sismember: ["SISMEMBER"],
  slaveof: ["SLAVEOF"],
  slowlogGet: ["SLOWLOG GET"],
  slowlogLen: ["SLOWLOG LEN"],
  slowlogReset: ["SLOWLOG RESET"],
  smembers: ["SMEMBERS"],
  smismember: ["SMISMEMBER"],
  smove: ["SMOVE"],
  sort: ["SORT"],
  sortRo: ["SORT_RO"],
  spop: ["SPOP"],
  spublish: ["SPUBLISH"],
  srandmember: ["SRANDMEMBER"],
  srem: ["SREM"],
  sscan: ["SSCAN"],
  strlen: ["STRLEN"],
  substr: ["SUBSTR"],
  sunion: ["SUNION"],
  sunionstore: ["SUNIONSTORE"],
  swapdb: ["SWAPDB"],
  time: ["TIME"],
  touch: ["TOUCH"],
  ttl: ["TTL"],
  type: ["TYPE"],
  unlink: ["UNLINK"],
  xack: ["XACK"],
  xadd: ["XADD"],
  xautoclaim: ["XAUTOCLAIM"],
  xclaim: ["XCLAIM"],
  xdel: ["XDEL"],
  xgroupCreate: ["XGROUP CREATE"],
  xgroupCreateconsumer: ["XGROUP CREATECONSUMER"],
  xgroupDelconsumer: ["XGROUP DELCONSUMER"],
  xgroupDestroy: ["XGROUP DESTROY"],
  xgroupSetid: ["XGROUP SETID"],
  xinfoConsumers: ["XINFO CONSUMERS", MAPS],
  xinfoGroups: ["XINFO GROUPS", MAPS],
  xinfoStream: ["XINFO STREAM", MAP],
  xlen: ["XLEN"],
  xpending: ["XPENDING"],
  xrange: ["XRANGE"],
  xread: ["XREAD"],
  xreadgroup: ["XREADGROUP"],
  xrevrange: ["XREVRANGE"],
  xsetid: ["XSETID"],
  xtrim: ["XTRIM"],
  zadd: ["ZADD", SCORES],
  zcard: ["ZCARD"],
  zcount: ["ZCOUNT"],
  zdiff: ["ZDIFF"],
  zdiffstore: ["ZDIFFSTORE"],
  zincrby: ["ZINCRBY"],
  zinter: ["ZINTER"],
  zintercard: ["ZINTERCARD"],
  zinterstore: ["ZINTERSTORE"],
  zlexcount: ["ZLEXCOUNT"],
  zmpop: ["ZMPOP"],
  zmscore: ["ZMSCORE"],
  zpopmax: ["ZPOPMAX"],
  zpopmin: ["ZPOPMIN"],
  zrandmember: ["ZRANDMEMBER"],
  zrange: ["ZRANGE"],
  zrangebylex: ["ZRANGEBYLEX"],
  zrangebyscore: ["ZRANGEBYSCORE"],
  zrangestore: ["ZRANGESTORE"],
  zrank: ["ZRANK"],
  zrem: ["ZREM"],
  zremrangebylex: ["ZREMRANGEBYLEX"],
  zremrangebyrank: ["ZREMRANGEBYRANK"],
  zremrangebyscore: ["ZREMRANGEBYSCORE"],
  zrevrange: ["ZREVRANGE"],
  zrevrangebylex: ["ZREVRANGEBYLEX"],
  zrevrangebyscore: ["ZREVRANGEBYSCORE"],
  zrevrank: ["ZREVRANK"],
  zscan: ["ZSCAN"],
  zscore: ["ZSCORE"],
  zunion: ["ZUNION"],
  zunionstore: ["ZUNIONSTORE"],
};

export const FIRST = "first";
export const LAST = "last";
export const BLOCK = "block";

/** The word of a method's command, and where it says how long it waits: in seconds, or in milliseconds behind BLOCK. */
export const BLOCKING: Readonly<
  Record<keyof BlockingCommands, readonly [word: string, timeout: typeof FIRST | typeof LAST | typeof BLOCK]>
> = {
  blmove: ["BLMOVE", LAST],
  blmpop: ["BLMPOP", FIRST],
  blpop: ["BLPOP", LAST],
  brpop: ["BRPOP", LAST],
  brpoplpush: ["BRPOPLPUSH", LAST],
  bzmpop: ["BZMPOP", FIRST],
  bzpopmax: ["BZPOPMAX", LAST],
  bzpopmin: ["BZPOPMIN", LAST],
  xread: ["XREAD", BLOCK],
  xreadgroup: ["XREADGROUP", BLOCK],
};
