/**
 * Every text that a client can see when something is wrong, once: here those of what every store needs, in rare-errors.ts those of
 * commands and parts that a browser loads when they are first used.
 *
 * A ReplyError is a value, not a JavaScript Error: it is thrown by handlers, carried inside EXEC's reply and written by
 * the encoder, and none of these wants a stack trace. The in-process API turns it into a real Error at its border.
 * Texts that never vary are constants; texts with a part that varies are functions.
 */

export class ReplyError {
  /** The whole text after the dash, code first: `WRONGTYPE Operation against …`. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The first word, as clients match on it and INFO errorstats counts it. */
  get code(): string {
    const end = this.text.indexOf(" ");
    return end < 0 ? this.text : this.text.slice(0, end);
  }
}

export const err = (text: string) => new ReplyError(text);

/** Says that a node of a Cluster cannot serve a command. Clients act on it, so EXEC answers with it as it is. */
export class RedirectError extends ReplyError {}

/** Bytes that come from a client must not end the line that quotes them. */
export const oneLine = (text: string) => text.replace(/[\r\n]/g, " ");

/** A text that quotes words as C prints them: each up to its first NUL, none of them ending the line. */
export function line(texts: TemplateStringsArray, ...words: string[]): string {
  return oneLine(texts.reduce((text, part, i) => text + words[i - 1]!.split("\0", 1)[0] + part));
}

// Types and numbers
export const WRONGTYPE = err("WRONGTYPE Operation against a key holding the wrong kind of value");
export const NOT_AN_INTEGER = err("ERR value is not an integer or out of range");
export const NOT_A_FLOAT = err("ERR value is not a valid float");
export const NOT_POSITIVE = err("ERR value is out of range, must be positive");
export const OUT_OF_RANGE = err("ERR index out of range");
export const INCR_OVERFLOW = err("ERR increment or decrement would overflow");
export const INCR_NAN = err("ERR increment would produce NaN or Infinity");
export const DECR_OVERFLOW = err("ERR decrement would overflow");
export const OFFSET_OUT_OF_RANGE = err("ERR offset is out of range");
export const STRING_TOO_LONG = err("ERR string exceeds maximum allowed size (proto-max-bulk-len)");

// Calls
export const SYNTAX = err("ERR syntax error");
export const NO_SUCH_KEY = err("ERR no such key");
export const SAME_OBJECT = err("ERR source and destination objects are the same");
export const BAD_DB_INDEX = err("ERR DB index is out of range");
export const INVALID_CURSOR = err("ERR invalid cursor");
export const wrongArity = (name: string) => err(`ERR wrong number of arguments for '${name}' command`);
export const invalidExpire = (name: string) => err(`ERR invalid expire time in '${name}' command`);
export const unknownSubcommand = (name: string, container: string) =>
  err(line`ERR unknown subcommand '${name.slice(0, 128)}'. Try ${container.toUpperCase()} HELP.`);

export function unknownCommand(argv: readonly string[]): ReplyError {
  let args = "";
  for (let i = 1; i < argv.length && args.length < 128; i++) args += line`'${argv[i]!.slice(0, 128 - args.length)}' `;
  return err(line`ERR unknown command '${argv[0]!.slice(0, 128)}', with args beginning with: ${args}`);
}

// Keys and expiry
export const EXPIRE_NX_AND_OTHERS = err("ERR NX and XX, GT or LT options at the same time are not compatible");
export const EXPIRE_GT_AND_LT = err("ERR GT and LT options at the same time are not compatible");
export const unsupportedOption = (word: string) => err(line`ERR Unsupported option ${word}`);
/** Not Redis's: in a browser, the code of a command could not be fetched. The next call tries again. */
export const partNotLoaded = (name: string, part: string, why: string) =>
  err(
    `ERR '${name}' cannot run: the part '${part}' of the engine could not be loaded (${oneLine(why)}); call it again`,
  );

/** Not Redis's: a handler failed in a way that it should not. */
export const internalError = (name: string) => err(`ERR internal error in '${name}'`);

// Timeouts
export const TIMEOUT_NOT_FLOAT = err("ERR timeout is not a float or out of range");
export const TIMEOUT_NEGATIVE = err("ERR timeout is negative");
// Hashes and sets
export const HASH_VALUE_NOT_AN_INTEGER = err("ERR hash value is not an integer");
export const HASH_VALUE_NOT_A_FLOAT = err("ERR hash value is not a float");
export const NAN_OR_INFINITY = err("ERR value is NaN or Infinity");
export const VALUE_OUT_OF_RANGE = err("ERR value is out of range");
export const COUNT_OUT_OF_BOUNDS = err(
  "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
);
export const NUMKEYS_NOT_POSITIVE = err("ERR numkeys should be greater than 0");
export const NUMKEYS_TOO_LARGE = err("ERR Number of keys can't be greater than number of args");
export const LIMIT_NEGATIVE = err("ERR LIMIT can't be negative");

// Lists and SORT
export const LPOS_RANK_ZERO = err(
  "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list",
);
export const LPOS_COUNT_NEGATIVE = err("ERR COUNT can't be negative");
export const LPOS_MAXLEN_NEGATIVE = err("ERR MAXLEN can't be negative");
// Sorted sets
export const COUNT_NOT_POSITIVE = err("ERR count should be greater than 0");
export const SCORE_NAN = err("ERR resulting score is not a number (NaN)");
export const ZADD_XX_NX = err("ERR XX and NX options at the same time are not compatible");
export const ZADD_GT_LT_NX = err("ERR GT, LT, and/or NX options at the same time are not compatible");
export const ZADD_INCR_PAIR = err("ERR INCR option supports a single increment-element pair");
export const RANGE_NOT_FLOAT = err("ERR min or max is not a float");
export const RANGE_NOT_LEX = err("ERR min or max not valid string range item");
export const LIMIT_NEEDS_BY = err(
  "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
);
export const WITHSCORES_BYLEX = err("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
export const WEIGHT_NOT_FLOAT = err("ERR weight value is not a float");
export const inputKeyNeeded = (name: string) => err(`ERR at least 1 input key is needed for '${name}' command`);

// Transactions
export const NESTED_MULTI = err("ERR MULTI calls can not be nested");
export const EXEC_WITHOUT_MULTI = err("ERR EXEC without MULTI");
export const DISCARD_WITHOUT_MULTI = err("ERR DISCARD without MULTI");
export const WATCH_INSIDE_MULTI = err("ERR WATCH inside MULTI is not allowed");
export const EXECABORT = err("EXECABORT Transaction discarded because of previous errors.");
/** EXEC itself was refused. */
export const execAborted = (reason: ReplyError) =>
  err(`EXECABORT Transaction discarded because of: ${reason.text.replace(/^ERR /, "")}`);
export const notAllowedInMulti = (_name: string) => err("ERR Command not allowed inside a transaction");

// Connection state
export const NOAUTH = err("NOAUTH Authentication required.");
export const OOM = err("OOM command not allowed when used memory > 'maxmemory'.");
export const REPLICA_KEYSPACE = err("ERR Replica can't interact with the keyspace");
export const notInSubscribedMode = (name: string) =>
  err(
    `ERR Can't execute '${name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
  );

// Who a client is
export const WRONGPASS = err("WRONGPASS invalid username-password pair or user is disabled.");
export const AUTH_WITHOUT_PASSWORD = err(
  "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
);
export const NOAUTH_HELLO = err(
  "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time",
);
export const NO_SUCH_PROTOCOL = err("NOPROTO unsupported protocol version");
export const BAD_PROTOCOL_NUMBER = err("ERR Protocol version is not an integer or out of range");
export const helloSyntax = (option: string) => err(line`ERR Syntax error in HELLO option '${option}'`);
export const INT_OUT_OF_RANGE = err("ERR value is out of range, value must between -2147483648 and 2147483647");

// CLIENT
export const BAD_CLIENT_NAME = err("ERR Client names cannot contain spaces, newlines or special characters.");
export const subcommandSyntax = (name: string, container: string) =>
  err(line`ERR unknown subcommand or wrong number of arguments for '${name.slice(0, 128)}'. Try ${container} HELP.`);

export const notInCluster = (name: string) => err(`ERR ${name} is not allowed in cluster mode`);
export const COPY_IN_CLUSTER = err("ERR Copying to another database is not allowed in cluster mode");
export const BAD_FIRST_DB = err("ERR invalid first DB index");
export const BAD_SECOND_DB = err("ERR invalid second DB index");
// Files
export const LOADING = err("LOADING Redis is loading the dataset in memory");
