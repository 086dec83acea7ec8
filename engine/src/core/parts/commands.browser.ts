/** The commands of each part that is loaded when it is first used. Made by `npm run docs`. */
export const COMMANDS_OF = {
  bits: "bitcount bitfield bitfield_ro bitop bitpos getbit pfadd pfcount pfdebug pfmerge pfselftest setbit",
  geo: "geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore",
  scripts: "acl command config debug eval eval_ro evalsha evalsha_ro fcall fcall_ro function script",
  server:
    "asking bgrewriteaof bgsave client cluster dump failover info lastsave latency lolwut memory migrate module monitor object psync readonly readwrite replconf replicaof restore restore-asking role save shutdown slaveof slowlog sync wait waitaof",
  sort: "lcs sort sort_ro",
  streams: "xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim",
};

export type Part = keyof typeof COMMANDS_OF;
