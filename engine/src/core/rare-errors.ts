/** The texts of errors that common commands never answer: streams, scripts, users, files, replication. errors.ts has the others. */
import { err, line, oneLine, RedirectError, type ReplyError } from "./errors.ts";

export const FREQUENCY_NOT_TRACKED = err(
  "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);
export const IDLE_TIME_NOT_TRACKED = err(
  "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);

export const BUSYKEY = err("BUSYKEY Target key name already exists.");
export const BAD_RESTORE_TTL = err("ERR Invalid TTL value, must be >= 0");
export const BAD_RESTORE_IDLE_TIME = err("ERR Invalid IDLETIME value, must be >= 0");
export const BAD_RESTORE_FREQUENCY = err("ERR Invalid FREQ value, must be >= 0 and <= 255");
export const BAD_DUMP_PAYLOAD = err("ERR DUMP payload version or checksum are wrong");
export const BAD_DUMP_FORMAT = err("ERR Bad data format");

// MIGRATE
export const MIGRATE_KEYS_AND_KEY = err(
  "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
);
export const MIGRATE_CONNECTING = err("IOERR error or timeout connecting to the client");
export const migrateFailed = (stage: "writing" | "reading") =>
  err(`IOERR error or timeout ${stage} to target instance`);
export const targetError = (text: string) => err(line`ERR Target instance replied with error: ${text}`);
/** Not Redis's, which lets nothing happen meanwhile. */
export const migrateChanged = (key: string) =>
  err(
    line`ERR the key '${key.slice(0, 128)}' was changed while it was on its way: it stays here as it is now, and the target instance has it as it was`,
  );

export const TIMEOUT_NOT_INTEGER = err("ERR timeout is not an integer or out of range");

export const SORT_NOT_NUMERIC = err("ERR One or more scores can't be converted into double");

// Geo
export const UNKNOWN_UNIT = err("ERR unsupported unit provided. please use M, KM, FT, MI");
export const RADIUS_NOT_NUMERIC = err("ERR need numeric radius");
export const RADIUS_NEGATIVE = err("ERR radius cannot be negative");
export const WIDTH_NOT_NUMERIC = err("ERR need numeric width");
export const HEIGHT_NOT_NUMERIC = err("ERR need numeric height");
export const BOX_NEGATIVE = err("ERR height or width cannot be negative");
export const GEO_COUNT_NOT_POSITIVE = err("ERR COUNT must be > 0");
export const GEO_ANY_WITHOUT_COUNT = err("ERR the ANY argument requires COUNT argument");
export const GEO_NO_MEMBER = err("ERR could not decode requested zset member");
export const invalidPosition = (longitude: string, latitude: string) =>
  err(`ERR invalid longitude,latitude pair ${longitude},${latitude}`);
export const geoStoreConflict = (what: string) =>
  err(`ERR ${what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options`);
export const geoOriginMissing = (command: string) =>
  err(`ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ${command}`);
export const geoShapeMissing = (command: string) =>
  err(`ERR exactly one of BYRADIUS and BYBOX can be specified for ${command}`);

export const UNBLOCKED = err("UNBLOCKED client unblocked via CLIENT UNBLOCK");
// Refused connections
export const MAX_CLIENTS_REACHED = err("ERR max number of clients reached");
export const PROTECTED_MODE = err(
  "DENIED This server is in protected mode because no password is set: it answers only clients on the same machine. To let others in, set a password with 'requirepass', or turn protection off with 'CONFIG SET protected-mode no' from this machine if nobody else can reach the port.",
);
export const TLS_REQUIRED = err("ERR This port takes TLS only. Connect with rediss:// or redis-cli --tls.");
export const TLS_UNEXPECTED = err("ERR This port does not take TLS. Connect without it, or to the tls-port.");
export const CLIENT_CERTIFICATE_MISSING = err("ERR This server asks clients for a certificate, and none was sent.");
export const clientCertificateRefused = (reason: string) =>
  err(line`ERR The certificate of this client is not accepted: ${reason}`);

// Access control lists
export const BAD_USER_NAME = err("ERR Usernames can't contain spaces or null characters");
export const DEFAULT_USER_STAYS = err("ERR The 'default' user cannot be removed");
export const ACL_NO_FILE = err(
  "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.",
);
export const ACL_NOT_SAVED = err(
  "ERR There was an error trying to save the ACLs. Please check the server logs for more information",
);
export const BAD_PASSWORD_BITS = err(
  "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096",
);
export const SORT_BY_DENIED = err("ERR BY option of SORT denied due to insufficient ACL permissions.");
export const SORT_GET_DENIED = err("ERR GET option of SORT denied due to insufficient ACL permissions.");
export const unknownCategory = (name: string) => err(line`ERR Unknown category '${name}'`);
export const dryRunNoUser = (name: string) => err(line`ERR User '${name}' not found`);
export const dryRunNoCommand = (name: string) => err(line`ERR Command '${name}' not found`);
export const aclUnmatched = (word: string) =>
  err(line`ERR Unmatched parenthesis in acl selector starting at '${word}'.`);
export const aclModifier = (rule: string, why: string) =>
  err(line`ERR Error in ACL SETUSER modifier '${rule}': ${why}`);

type Denied = "command" | "key" | "channel";

export function noPermission(reason: Denied, command: string): ReplyError {
  if (reason === "command") return err(`NOPERM this user has no permissions to run the '${command}' command`);
  return err(`NOPERM this user has no permissions to access one of the ${reason}s used as arguments`);
}

const EXEC_REASONS: Readonly<Record<Denied, string>> = {
  command: "no permission to execute the command or subcommand",
  key: "no permission to touch the specified keys",
  channel: "no permission to access one of the channels used as arguments",
};
export const noPermissionInExec = (reason: Denied) =>
  err(
    `NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: ${EXEC_REASONS[reason]}`,
  );

const SCRIPT_REASONS: Readonly<Record<Denied, string>> = {
  command: "run this command or subcommand",
  key: "access at least one of the keys mentioned in the command arguments",
  channel: "publish to the channel mentioned in the command",
};
export const noPermissionInScript = (reason: Denied) =>
  err(`ERR The user executing the script can't ${SCRIPT_REASONS[reason]}`);

/** What ACL DRYRUN answers, which is no error. */
export const dryRunDenied = (reason: Denied, what: string) =>
  `This user has no permissions to ${reason === "command" ? `run the '${what}' command` : `access the '${what}' ${reason}`}`;

/** Why a rule is wrong. */
export const ACL_SYNTAX = "Syntax error";
export const ACL_UNKNOWN_COMMAND = "Unknown command or category name in ACL";
export const ACL_ALLKEYS_PATTERN =
  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns";
export const ACL_ALLCHANNELS_PATTERN =
  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels";
export const ACL_NO_SUCH_PASSWORD = "The password you are trying to remove from the user does not exist";
export const ACL_BAD_HASH =
  "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters";
export const ACL_FIRST_ARGUMENT_OF_SUBCOMMAND = "Allowing first-arg of a subcommand is not supported";
export const ACL_DUPLICATE_USER = "Duplicate user found. A user can only be defined once in config files";

/** What is wrong with a file of users, part by part. */
export const aclFileUserKeyword = (where: string) =>
  `${where} should start with user keyword followed by the username. `;
export const aclFileUserName = (where: string, name: string) =>
  `'${where}: username '${name}' contains invalid characters. `;
export const aclDuplicateUser = (name: string, at: number) => `WARNING: Duplicate user '${name}' found on line ${at}. `;
export const aclFileParenthesis = (where: string) => `${where}: Unmatched parenthesis in selector definition. `;
export const aclFileOperation = (where: string, rule: string, why: string) =>
  `${where}: Error in applying operation '${rule}': ${why}. `;
export const aclFileRule = (where: string, why: string) => `${where}: ${why}. `;
export const ACL_FILE_UNCHANGED =
  "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
export const aclFileUnreadable = (path: string, why: string) => `Error loading ACLs, opening file '${path}': ${why}`;
export const aclDeclaration = (rule: string, why: string) => `Error in user declaration '${rule}': ${why}`;
export const ACL_AND_FILE =
  "Configuring Redis with users defined in redis.conf and at the same setting an ACL file path is invalid. This setup is very likely to lead to configuration errors and security holes, please define either an ACL file or declare users directly in your redis.conf, but not both.";

export const badClientAttribute = (name: string) =>
  err(`ERR ${name} cannot contain spaces, newlines or special characters.`);
export const unknownClientOption = (name: string) => err(line`ERR Unrecognized option '${name}'`);
export const BAD_CLIENT_ID = err("ERR Invalid client ID");
export const CLIENT_ID_NOT_POSITIVE = err("ERR client-id should be greater than 0");
export const NO_SUCH_CLIENT = err("ERR No such client");
export const unknownClientType = (name: string) => err(line`ERR Unknown client type '${name}'`);
export const noSuchUser = (name: string) => err(line`ERR No such user '${name}'`);
export const BAD_PAUSE_MODE = err("ERR CLIENT PAUSE mode must be WRITE or ALL");
export const BAD_UNBLOCK_REASON = err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
export const MONITOR_MAY_NOT_BLOCK = err("ERR MONITOR isn't allowed for DENY BLOCKING client");

// Client-side caching
export const REDIRECT_TO_NOBODY = err("ERR The client ID you want redirect to does not exist");
export const REDIRECT_TWICE = err("ERR A client can only redirect to a single other client");
export const PREFIX_WITHOUT_BCAST = err("ERR PREFIX option requires BCAST mode to be enabled");
export const BCAST_SWITCH = err(
  "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.",
);
export const BCAST_WITH_OPT = err("ERR OPTIN and OPTOUT are not compatible with BCAST");
export const OPTIN_AND_OPTOUT = err("ERR You can't specify both OPTIN mode and OPTOUT mode");
export const OPT_SWITCH = err(
  "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.",
);
const overlap = (prefix: string, what: string, other: string) =>
  err(line`ERR Prefix '${prefix}' overlaps with ${what} '${other}'. Prefixes for a single client must not overlap.`);
export const overlapsExisting = (prefix: string, other: string) => overlap(prefix, "an existing prefix", other);
export const overlapsGiven = (prefix: string, other: string) => overlap(prefix, "another provided prefix", other);
export const CACHING_WITHOUT_TRACKING = err(
  "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
);
export const CACHING_YES_WITHOUT_OPTIN = err(
  "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
);
export const CACHING_NO_WITHOUT_OPTOUT = err(
  "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
);

// COMMAND
export const NO_KEY_ARGUMENTS = err("ERR The command has no key arguments");
export const BAD_ARGUMENT_COUNT = err("ERR Invalid number of arguments specified for command");
export const BAD_COMMAND = err("ERR Invalid command specified");
export const BAD_ARGUMENTS = err("ERR Invalid arguments specified for command");

// Protocol: each of these closes the connection after it is sent
export const protocolError = (what: string) => err(`ERR Protocol error: ${what}`);

// Bitmaps
export const BAD_BIT_OFFSET = err("ERR bit offset is not an integer or out of range");
export const BAD_BIT = err("ERR bit is not an integer or out of range");
export const BAD_BITPOS_BIT = err("ERR The bit argument must be 1 or 0.");
export const BITOP_NOT_KEYS = err("ERR BITOP NOT must be called with a single source key.");
export const BAD_OVERFLOW_TYPE = err("ERR Invalid OVERFLOW type specified");
export const BAD_BITFIELD_TYPE = err(
  "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
);
export const BITFIELD_RO_WRITES = err("ERR BITFIELD_RO only supports the GET subcommand");

// HyperLogLog
export const NOT_A_HLL = err("WRONGTYPE Key is not a valid HyperLogLog string value.");
export const CORRUPT_HLL = err("INVALIDOBJ Corrupted HLL object detected");
export const PFDEBUG_NO_KEY = err("ERR The specified key does not exist");
export const HLL_NOT_SPARSE = err("ERR HLL encoding is not sparse");
export const unknownPfdebug = (name: string) => err(line`ERR Unknown PFDEBUG subcommand '${name}'`);

// LCS
export const LCS_WRONG_TYPE = err("ERR The specified keys must contain string values");
export const LCS_LEN_AND_IDX = err("ERR If you want both the length and indexes, please just use IDX.");
export const LCS_TOO_LONG = err("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");

// Streams
export const BAD_STREAM_ID = err("ERR Invalid stream ID specified as stream command argument");
export const BAD_INTERVAL_START = err("ERR invalid start ID for the interval");
export const BAD_INTERVAL_END = err("ERR invalid end ID for the interval");
export const XADD_ZERO_ID = err("ERR The ID specified in XADD must be greater than 0-0");
export const XADD_SMALL_ID = err("ERR The ID specified in XADD is equal or smaller than the target stream top item");
export const XADD_TOO_LARGE = err("ERR Elements are too large to be stored");
export const STREAM_EXHAUSTED = err("ERR The stream has exhausted the last possible ID, unable to add more items");
export const TRIM_TWICE = err("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
export const TRIM_MAXLEN_NEGATIVE = err("ERR The MAXLEN argument must be >= 0.");
export const TRIM_LIMIT_NEGATIVE = err("ERR The LIMIT argument must be >= 0.");
export const TRIM_LIMIT_ALONE = err("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
export const TRIM_LIMIT_EXACT = err("ERR syntax error, LIMIT cannot be used without the special ~ option");
export const XTRIM_NO_STRATEGY = err("ERR syntax error, XTRIM must be called with a trimming strategy");
export const XSETID_NEGATIVE_ADDED = err("ERR entries_added must be positive");
export const XSETID_BELOW_GIVEN_DELETED = err(
  "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
);
export const XSETID_BELOW_TOP = err("ERR The ID specified in XSETID is smaller than the target stream top item");
export const XSETID_FEW_ADDED = err(
  "ERR The entries_added specified in XSETID is smaller than the target stream length",
);
export const XREAD_UNBALANCED = err(
  "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
);
export const XREAD_GROUP = err("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
export const XREAD_NOACK = err("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
export const XREAD_NEW_ID = err(
  "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
);
export const XREADGROUP_NO_GROUP = err("ERR Missing GROUP option for XREADGROUP");
export const XREADGROUP_LAST_ID = err(
  "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.",
);
export const STREAM_GONE = err("UNBLOCKED the stream key no longer exists");
export const GROUP_GONE = err("NOGROUP the consumer group this client was blocked on no longer exists");
export const BUSYGROUP = err("BUSYGROUP Consumer Group name already exists");
export const XGROUP_NO_KEY = err(
  "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
);
export const BAD_ENTRIESREAD = err("ERR value for ENTRIESREAD must be positive or -1");
export const CLAIM_COUNT_NOT_POSITIVE = err("ERR COUNT must be > 0");
export const CLAIM_COUNT_TOO_HIGH = err("ERR Insufficient memory, failed allocating transient memory, COUNT too high.");
export const noGroupOf = (key: string, group: string) =>
  err(line`NOGROUP No such consumer group '${group}' for key name '${key}'`);
export const noKeyOrGroup = (key: string, group: string, where = "") =>
  err(line`NOGROUP No such key '${key}' or consumer group '${group}'${where}`);
export const badMinIdle = (name: string) => err(`ERR Invalid min-idle-time argument for ${name}`);
export const badClaimOption = (option: string) => err(`ERR Invalid ${option} option argument for XCLAIM`);
export const unknownClaimOption = (word: string) => err(line`ERR Unrecognized XCLAIM option '${word}'`);
// Cluster
const redirect = (text: string) => new RedirectError(text);
export const CLUSTER_DISABLED = err("ERR This instance has cluster support disabled");
export const CROSSSLOT = redirect("CROSSSLOT Keys in request don't hash to the same slot");
export const TRYAGAIN = redirect("TRYAGAIN Multiple keys request during rehashing of slot");
export const CLUSTER_DOWN = redirect("CLUSTERDOWN The cluster is down");
export const CLUSTER_DOWN_READS_ONLY = redirect("CLUSTERDOWN The cluster is down and only accepts read commands");
export const SLOT_NOT_SERVED = redirect("CLUSTERDOWN Hash slot not served");
export const moved = (slot: number, address: string) => redirect(`MOVED ${slot} ${address}`);
export const ask = (slot: number, address: string) => redirect(`ASK ${slot} ${address}`);
export const REPLICAOF_IN_CLUSTER = err("ERR REPLICAOF not allowed in cluster mode.");
export const FAILOVER_IN_CLUSTER = err(
  "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.",
);
export const sortDenied = (option: "BY" | "GET") => err(`ERR ${option} option of SORT denied in Cluster mode.`);
export const BAD_SLOT = err("ERR Invalid or out of range slot");
export const BAD_COUNTED_SLOT = err("ERR Invalid slot");
export const BAD_LISTED_SLOT = err("ERR Invalid slot or number of keys");
export const slotBusy = (slot: number) => err(`ERR Slot ${slot} is already busy`);
export const slotUnassigned = (slot: number) => err(`ERR Slot ${slot} is already unassigned`);
export const slotTwice = (slot: number) => err(`ERR Slot ${slot} specified multiple times`);
export const slotRange = (from: number, to: number) =>
  err(`ERR start slot number ${from} is greater than end slot number ${to}`);
export const notSlotOwner = (slot: number) => err(`ERR I'm not the owner of hash slot ${slot}`);
export const alreadySlotOwner = (slot: number) => err(`ERR I'm already the owner of hash slot ${slot}`);
export const slotHasKeys = (slot: number) =>
  err(`ERR Can't assign hashslot ${slot} to a different node while I still hold keys for this hash slot.`);
export const unknownNode = (id: string) => err(line`ERR Unknown node ${id}`);
export const strangeNode = (id: string) => err(line`ERR I don't know about node ${id}`);
export const TARGET_NOT_PRIMARY = err("ERR Target node is not a master");
export const NODE_NOT_PRIMARY = err("ERR The specified node is not a master");
export const SETSLOT_ON_REPLICA = err("ERR Please use SETSLOT only with masters.");
export const SETSLOT_SYNTAX = err("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
export const FORGET_MYSELF = err("ERR I tried hard but I can't forget myself...");
export const FORGET_PRIMARY = err("ERR Can't forget my master!");
export const REPLICATE_MYSELF = err("ERR Can't replicate myself");
export const REPLICATE_REPLICA = err("ERR I can only replicate a master, not a replica.");
export const REPLICATE_WITH_DATA = err("ERR To set a master the node must be empty and without assigned slots.");
export const FLUSHSLOTS_WITH_KEYS = err("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
export const RESET_WITH_KEYS = err("ERR CLUSTER RESET can't be called with master nodes containing keys");
export const CLUSTER_FAILOVER_ON_PRIMARY = err("ERR You should send CLUSTER FAILOVER to a replica");
export const CLUSTER_FAILOVER_DOWN = err("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE");
export const badConfigEpoch = (epoch: number) => err(`ERR Invalid config epoch specified: ${epoch}`);
export const EPOCH_SET = err("ERR Node config epoch is already non-zero");
export const EPOCH_WITH_NODES = err(
  "ERR The user can assign a config epoch only when the node does not know any other node.",
);
export const badBasePort = (word: string) => err(line`ERR Invalid TCP base port specified: ${word}`);
export const badBusPort = (word: string) => err(line`ERR Invalid TCP bus port specified: ${word}`);
export const badNodeAddress = (ip: string, port: number) =>
  err(line`ERR Invalid node address specified: ${ip}:${String(port)}`);
/** Not Redis's, which would meet it. */
export const meetElsewhere = (ip: string, port: number) =>
  err(
    line`ERR There is no node of this process at ${ip}:${String(port)}. A Cluster of this server lives in one process, for development and tests; one of several processes is made of Redis or Valkey nodes`,
  );
export const configNotSaved = (why: string) => err(line`ERR error saving the cluster node config: ${why}`);
export const SCRIPT_NO_CLUSTER = err("ERR Can not run script on cluster, 'no-cluster' flag is set.");
export const SCRIPT_NOT_LOCAL = err("ERR Script attempted to access a non local key in a cluster node");
export const SCRIPT_OTHER_SLOT = err("ERR Script attempted to access keys that do not hash to the same slot");
export const SCRIPT_CLUSTER_DOWN = err("ERR Script attempted to execute a command while the cluster is down");
export const SCRIPT_CLUSTER_READS_ONLY = err(
  "ERR Script attempted to execute a write command while the cluster is down and readonly",
);

// Server
export const NO_CONFIG_FILE = err("ERR The server is running without a config file");
export const SLOWLOG_COUNT = err("ERR count should be greater than or equal to -1");
export const MODULE_NOT_ALLOWED = err(
  'ERR MODULE command not allowed. If the enable-module-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.',
);
export const MODULE_NOT_LOADED = err("ERR Error loading the extension. Please check the server logs.");
export const NO_SUCH_MODULE = err("ERR Error unloading module: no such module with that name");
export const NO_SHUTDOWN = err("ERR No shutdown in progress.");
export const SHUTDOWN_FAILED = err("ERR Errors trying to SHUTDOWN. Check logs.");
export const HTSTATS_RANGE = err("ERR Out of range database");
export const NOT_A_LISTPACK = err("ERR Not a listpack encoded object.");
export const NOT_A_QUICKLIST = err("ERR Not a quicklist encoded object.");
export const NOT_A_HASH_TABLE = err("ERR The value stored at the specified key is not represented using an hash table");
export const RESP2_UNSUPPORTED = err("ERR RESP2 is not supported by this command");
export const BAD_PACKED_THRESHOLD = err("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
export const BAD_PROTOCOL_TYPE = err(
  "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
);
export const DEBUG_NOT_ALLOWED = err(
  'ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.',
);
export const BAD_RELOAD_OPTION = err("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
export const RELOAD_FAILED = err("ERR Error trying to load the RDB dump");
export const LOADAOF_FAILED = err("ERR Error trying to load the AOF files");
export const unknownDirective = (name: string) =>
  err(line`ERR Unknown option or number of arguments for CONFIG SET - '${name}'`);
export const configRefused = (name: string, why: string) =>
  err(line`ERR CONFIG SET failed (possibly related to argument '${name}') - ${why}`);
/** Why CONFIG SET could not move a server to other addresses. */
export const LISTEN_FAILED = "Unable to listen on this port. Check server logs.";
export const BIND_FAILED = "Failed to bind to specified addresses.";
export const LISTENS_ELSEWHERE = "the program that holds this store decides where it listens";
export const LISTENS_NOT_IN_MULTI = "addresses cannot be changed inside a transaction";
export const configNotWritten = (why: string) => err(line`ERR Rewriting config file: ${why}`);
export const noLatencySamples = (event: string) => err(line`ERR No samples available for event '${event}'`);
/** DEBUG ERROR: a text of the caller's choice. */
export const chosenError = (text: string) => err(oneLine(text));

// Scripts
export const NOSCRIPT_ERROR = err("NOSCRIPT No matching script. Please use EVAL.");
export const TOO_FEW_SCRIPT_ARGS = err("ERR Number of keys can't be greater than number of args");
export const NEGATIVE_SCRIPT_KEYS = err("ERR Number of keys can't be negative");
export const SCRIPT_FLUSH_OPTIONS = err("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
export const SCRIPT_DEBUG_OPTIONS = err("ERR Use SCRIPT DEBUG YES/SYNC/NO");
export const SCRIPT_UNKNOWN_COMMAND = err("ERR Unknown Redis command called from script");
export const SCRIPT_ARITY = err("ERR Wrong number of args calling Redis command from script");
export const SCRIPT_NOT_ALLOWED = err("ERR This Redis command is not allowed from script");
export const READONLY_SCRIPT_WRITES = err("ERR Write commands are not allowed from read-only scripts.");
export const WRITING_SCRIPT_IN_RO = err("ERR Can not execute a script with write flag using *_ro command.");
export const INVALID_SHEBANG = err("ERR Invalid script shebang");
export const unexpectedEngine = (engine: string) => err(line`ERR Unexpected engine in script shebang: ${engine}`);
export const unknownShebangOption = (option: string) => err(line`ERR Unknown lua shebang option: ${option}`);
export const unexpectedScriptFlag = (flag: string) => err(line`ERR Unexpected flag in script shebang: ${flag}`);
export const compileError = (message: string) => err(`ERR Error compiling script (new function): ${message}`);
export const NOT_BUSY = err("NOTBUSY No scripts in execution right now.");
export const UNKILLABLE = err(
  "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
);
export const BUSY_SCRIPT = err(
  "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
);
export const BUSY_FUNCTION = err(
  "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
);
export const blockInScript = (name: string) => err(`ERR ${name} command is not allowed with BLOCK option from scripts`);
export const NO_DEBUGGER = err(
  "ERR There is no Lua debugger in this server: run the script without SCRIPT DEBUG (redis-cli --ldb)",
);
export const SCRIPT_OUT_OF_TIME = "ERR Script ended: it ran longer than script-time-limit allows";
export const SCRIPT_OUT_OF_MEMORY = "ERR Script ended: not enough memory";
export const SCRIPT_KILLED = "ERR Script killed by user with SCRIPT KILL...";

/** An error that ended a script, with the script and the line it came from. */
export const scriptError = (text: string, name: string, place: { source: string; line: number } | undefined) =>
  err(place === undefined ? text : `${text} script: ${name}, on ${place.source}:${place.line}.`);

// Functions
export const FUNCTION_NOT_FOUND = err("ERR Function not found");
export const BAD_KEY_COUNT = err("ERR Bad number of keys provided");
export const LIBRARY_NOT_FOUND = err("ERR Library not found");
export const MISSING_LIBRARY_METADATA = err("ERR Missing library metadata");
export const INVALID_LIBRARY_METADATA = err("ERR Invalid library metadata");
export const LIBRARY_NAME_MISSING = err("ERR Library name was not given");
export const LIBRARY_NAMED_TWICE = err("ERR Invalid metadata value, name argument was given multiple times");
export const BAD_FUNCTION_NAME = err(
  "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long",
);
export const NO_FUNCTIONS_REGISTERED = err("ERR No functions registered");
export const FUNCTION_LOAD_TIMEOUT = err("ERR Error registering functions: ERR FUNCTION LOAD timeout");
export const FUNCTION_FLUSH_OPTIONS = err("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
export const LIBRARY_PATTERN_MISSING = err("ERR library name argument was not given");
export const BAD_RESTORE_POLICY = err(
  "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
);
export const NOT_A_FUNCTION_DUMP = err("ERR given type is not a function");
export const BAD_FUNCTION_DUMP = err("ERR failed loading the given functions payload");
export const unknownLibraryMetadata = (word: string) => err(line`ERR Invalid metadata value given: ${word}`);
export const engineNotFound = (name: string) => err(line`ERR Engine '${name}' not found`);
export const libraryExists = (name: string) => err(`ERR Library '${name}' already exists`);
/** FUNCTION RESTORE says it without quotes. */
export const libraryToRestoreExists = (name: string) => err(`ERR Library ${name} already exists`);
export const functionExists = (name: string) => err(`ERR Function ${name} already exists`);
export const functionCompileError = (message: string) => err(oneLine(`ERR Error compiling function: ${message}`));
export const functionLoadError = (message: string) => err(oneLine(`ERR Error registering functions: ${message}`));
export const unknownLoadOption = (option: string) => err(line`ERR Unknown option given: ${option}`);
export const unknownListArgument = (word: string) => err(line`ERR Unknown argument ${word}`);

// Replication
export const READONLY = err("READONLY You can't write against a read only replica.");
export const NOREPLICAS = err("NOREPLICAS Not enough good replicas to write.");
export const MASTERDOWN = err("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
export const NOMASTERLINK = err("NOMASTERLINK Can't SYNC while not connected with my master");
export const PENDING_OUTPUT = err("ERR SYNC and PSYNC are invalid with pending output");
export const ROLE_CHANGED = err(
  "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
);
export const WAIT_ON_REPLICA = err(
  "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.",
);
export const WAITAOF_ON_REPLICA = err(
  "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and are not propagated.",
);
export const WAITAOF_WITHOUT_FILE = err("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
export const WAITAOF_LOCAL_RANGE = err("ERR value is out of range, must be between 0 and 1");
export const BAD_PRIMARY_PORT = err("ERR Invalid master port");
export const REPLICAOF_IN_FAILOVER = err("ERR REPLICAOF not allowed while failing over.");
export const REPLICA_MAY_NOT_FOLLOW = err("ERR Command is not valid when client is a replica.");
export const FAILOVER_TO_PRIMARY = err("ERR PSYNC FAILOVER can't be sent to a master.");
export const FAILOVER_OTHER_ID = err("ERR PSYNC FAILOVER replid must match my replid.");
export const FAILOVER_TIMEOUT = err("ERR FAILOVER timeout must be greater than 0");
export const NO_FAILOVER = err("ERR No failover in progress.");
export const FAILOVER_IN_PROGRESS = err("ERR FAILOVER already in progress.");
export const FAILOVER_ON_REPLICA = err("ERR FAILOVER is not valid when server is a replica.");
export const FAILOVER_WITHOUT_REPLICAS = err("ERR FAILOVER requires connected replicas.");
export const FAILOVER_FORCE = err(
  "ERR FAILOVER with force option requires both a timeout and target HOST and IP to be set.",
);
export const FAILOVER_NO_SUCH_REPLICA = err("ERR FAILOVER target HOST and PORT is not a replica.");
export const FAILOVER_REPLICA_OFFLINE = err("ERR FAILOVER target replica is not online.");
export const unknownReplconfOption = (name: string) => err(line`ERR Unrecognized REPLCONF option: ${name}`);
export const unknownRdbFilter = (name: string) => err(line`ERR Unsupported rdb-filter-only option: ${name}`);
export const RDB_ONLY_RANGE = err("ERR value is out of range, value must between 0 and 1");
export const RDB_FILTER_QUOTES = err("ERR Missing rdb-filter-only values");
export const replicaAddressTooLong = (bytes: number) =>
  err(`ERR REPLCONF ip-address provided by replica instance is too long: ${bytes} bytes`);
export const SCRIPT_ON_STALE_REPLICA = err("ERR Can not execute the command on a stale replica");
/** Not Redis's: a client in the same process has no stream of bytes. */
export const NO_BYTES = err("ERR SYNC and PSYNC need a connection");

export const PLAIN_ERROR = err("ERR");
export const SAVE_IN_PROGRESS = err("ERR Background save already in progress");
export const REWRITE_IN_PROGRESS = err("ERR Background append only file rewriting already in progress");
export const REWRITE_FAILED = err(
  "ERR Can't execute an AOF background rewriting. Please check the server logs for more information.",
);
export const ANOTHER_JOB = err(
  "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.",
);
export const RDB_MISCONFIGURED = err(
  "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.",
);
export const aofMisconfigured = (reason: string) => err(oneLine(`MISCONF Errors writing to the AOF file: ${reason}`));
