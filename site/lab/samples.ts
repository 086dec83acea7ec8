/** Data to play with. */

export interface Sample {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
}

export const SAMPLES: readonly Sample[] = [
  {
    id: "shop",
    title: "A shop",
    lines: [
      'HSET product:1 name "Green tea" price 4.50 stock 120',
      'HSET product:2 name "Teapot" price 29.00 stock 8',
      'HSET product:3 name "Cup" price 7.25 stock 40',
      "SADD tag:tea product:1 product:2",
      "SADD tag:ceramics product:2 product:3",
      "ZADD sold 310 product:1 42 product:2 95 product:3",
      "RPUSH cart:ann product:1 product:3",
      "EXPIRE cart:ann 1800",
      "SINTER tag:tea tag:ceramics",
      "ZRANGE sold 0 -1 REV WITHSCORES",
    ],
  },
  {
    id: "game",
    title: "A leader board",
    lines: [
      "ZADD board 1200 ann 950 bob 2100 cho 1770 dee 640 eve",
      "ZINCRBY board 500 bob",
      "ZREVRANK board bob",
      "ZRANGE board 0 2 REV WITHSCORES",
      "PFADD players ann bob cho dee eve",
      "PFCOUNT players",
    ],
  },
  {
    id: "orders",
    title: "A stream of orders",
    lines: [
      "XADD orders 1-1 item tea amount 2",
      "XADD orders 2-1 item cup amount 1",
      "XADD orders 3-1 item teapot amount 1",
      "XGROUP CREATE orders packers 0",
      "XREADGROUP GROUP packers ann COUNT 2 STREAMS orders >",
      "XACK orders packers 1-1",
      "XPENDING orders packers",
    ],
  },
  {
    id: "cities",
    title: "Places",
    lines: [
      "GEOADD cities 13.361 38.116 Palermo 15.087 37.502 Catania 12.496 41.903 Rome 9.190 45.464 Milan",
      "GEODIST cities Rome Milan KM",
      "GEOSEARCH cities FROMMEMBER Palermo BYRADIUS 300 KM ASC WITHDIST",
    ],
  },
  {
    id: "lua",
    title: "A script",
    lines: [
      "SET stock:tea 3",
      "EVAL \"local left = tonumber(redis.call('GET', KEYS[1])) if left < tonumber(ARGV[1]) then return redis.error_reply('SOLD OUT') end return redis.call('DECRBY', KEYS[1], ARGV[1])\" 1 stock:tea 2",
      "EVAL \"local left = tonumber(redis.call('GET', KEYS[1])) if left < tonumber(ARGV[1]) then return redis.error_reply('SOLD OUT') end return redis.call('DECRBY', KEYS[1], ARGV[1])\" 1 stock:tea 2",
    ],
  },
];
