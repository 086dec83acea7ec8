-- The cmsgpack library: the bytes of every form, what comes back, malformed input.

local names = {} for k in pairs(cmsgpack) do names[#names + 1] = k end return names

return cmsgpack._NAME, cmsgpack._VERSION, cmsgpack._COPYRIGHT, cmsgpack._DESCRIPTION

local out = {} for _, v in ipairs{0, -0.0, 1, 127, 128, 255, 256, 65535, 65536, 2^31 - 1, 2^31, 2^32 - 1, 2^32, 2^53, 2^62, 2^63 - 1024, 2^63, 2^64, -1, -32, -33, -128, -129, -32768, -32769, -2^31, -2^31 - 1, -2^53, -2^63, -2^63 - 2048, 1e100, 0.5, 0.1, -0.5, 1.5, 1e300, 1e-300, 3.4e38, 1/0, -1/0, 16777217.5} do local s = cmsgpack.pack(v) out[#out + 1] = s out[#out + 1] = cmsgpack.unpack(s) end return out

return cmsgpack.pack(true), cmsgpack.pack(false), cmsgpack.pack(nil), cmsgpack.pack(cjson.null), cmsgpack.pack(print or function() end), cmsgpack.pack(""), cmsgpack.pack("a"), cmsgpack.pack("\0\255"), cmsgpack.pack(1, 2, 3), cmsgpack.pack(nil, nil), cmsgpack.pack("a", {1}, nil), cmsgpack.pack(0/0)

local out = {} for _, n in ipairs{0, 1, 31, 32, 33, 255, 256, 257, 65535, 65536} do local s = cmsgpack.pack(("x"):rep(n)) out[#out + 1] = {#s, s:sub(1, 6), #cmsgpack.unpack(s)} end return out

local out = {} for _, n in ipairs{0, 1, 2, 15, 16, 17, 65535, 65536} do local t = {} for i = 1, n do t[i] = i % 100 end local s = cmsgpack.pack(t) out[#out + 1] = {#s, s:sub(1, 8), #cmsgpack.unpack(s)} end return out

local out = {} for _, n in ipairs{1, 2, 15, 16, 17} do local t = {} for i = 1, n do t["k" .. i] = i end local s = cmsgpack.pack(t) out[#out + 1] = s out[#out + 1] = cmsgpack.unpack(s) end return out

return cmsgpack.pack({}), cmsgpack.pack({1, 2}), cmsgpack.pack({a = 1}), cmsgpack.pack({1, a = 2}), cmsgpack.pack({[0] = 1}), cmsgpack.pack({[1] = 1, [3] = 3}), cmsgpack.pack({[1.5] = 1}), cmsgpack.pack({[-1] = 1}), cmsgpack.pack({1, nil, 3}), cmsgpack.pack({[true] = 1}), cmsgpack.pack({[{}] = {}}), cmsgpack.pack({[2^31] = 1}), cmsgpack.pack({[2] = 1, [1] = 2}), cmsgpack.pack({nil, 2}), cmsgpack.pack({{}, {{}}})

local t = {} for i = 1, 15 do t = {t} end return cmsgpack.pack(t), cmsgpack.unpack(cmsgpack.pack(t))

local t = {} for i = 1, 20 do t = {t} end return cmsgpack.pack(t)

local t = {} for i = 1, 20 do t = {a = t} end return cmsgpack.pack(t)

local t = {} t.t = t return cmsgpack.pack(t)

return cmsgpack.unpack(""), select("#", cmsgpack.unpack("")), select("#", cmsgpack.unpack("\192")), cmsgpack.unpack("\1\2\3"), select("#", cmsgpack.unpack("\1\2\3"))

local out = {} for i = 0, 255 do out[#out + 1] = {pcall(cmsgpack.unpack, string.char(i))} end return out

local out = {} for i = 128, 255 do out[#out + 1] = {pcall(cmsgpack.unpack, string.char(i) .. "\1")} out[#out + 1] = {pcall(cmsgpack.unpack, string.char(i) .. "\0\1\2\3")} out[#out + 1] = {pcall(cmsgpack.unpack, string.char(i) .. "\255\254\253\252\251\250\249\248\247\246")} end return out

local out = {} for i = 192, 223 do for n = 0, 10 do out[#out + 1] = {pcall(cmsgpack.unpack, string.char(i) .. ("\0"):rep(n))} end end return out

return cmsgpack.unpack("\207\127\255\255\255\255\255\255\255"), cmsgpack.unpack("\207\128\0\0\0\0\0\0\0"), cmsgpack.unpack("\207\255\255\255\255\255\255\255\255"), cmsgpack.unpack("\211\128\0\0\0\0\0\0\0"), cmsgpack.unpack("\211\255\255\255\255\255\255\255\255"), cmsgpack.unpack("\207\0\32\0\0\0\0\0\1"), cmsgpack.unpack("\202\63\128\0\0"), cmsgpack.unpack("\203\63\240\0\0\0\0\0\0")

return cmsgpack.unpack("\146\1\192"), cmsgpack.unpack("\147\1\192\2"), cmsgpack.unpack("\147\192\192\2"), cmsgpack.unpack("\148\192\1\192\192"), cmsgpack.unpack("\129\161a\192"), cmsgpack.unpack("\130\161a\1\161a\2"), cmsgpack.unpack("\129\1\2"), cmsgpack.unpack("\131\1\2\2\3\3\4"), cmsgpack.unpack("\129\195\2"), cmsgpack.unpack("\129\144\144")

return cmsgpack.unpack("\129\192\1")

return cmsgpack.unpack("\129\203\127\248\0\0\0\0\0\0\1")

return pcall(cmsgpack.unpack, "\129\192\1")

return cmsgpack.unpack("\193")

return cmsgpack.unpack("\1\193")

return cmsgpack.unpack("\146\1")

return cmsgpack.unpack("\221\255\255\255\255\1")

return cmsgpack.unpack("\223\255\255\255\255\1")

return cmsgpack.unpack("\219\255\255\255\255a")

return cmsgpack.unpack()

return cmsgpack.unpack(nil)

return cmsgpack.unpack({})

return cmsgpack.unpack(12)

return cmsgpack.pack()

return pcall(cmsgpack.pack)

return cmsgpack.unpack_one("\1\2\3"), cmsgpack.unpack_one("\1\2\3", 1), cmsgpack.unpack_one("\1\2\3", 2), cmsgpack.unpack_one("\1\2\3", 3), cmsgpack.unpack_one(""), cmsgpack.unpack_one("\192")

return select("#", cmsgpack.unpack_one("\1\2\3", 3)), select("#", cmsgpack.unpack_one("\1")), cmsgpack.unpack_one("\1\2", "1"), cmsgpack.unpack_one("\1\2", 1.9), cmsgpack.unpack_one("\1", nil)

return cmsgpack.unpack_one("\1\2\3", 4)

return cmsgpack.unpack_one("\1\2\3", -1)

return cmsgpack.unpack_one("\1", "x")

return cmsgpack.unpack_one()

return cmsgpack.unpack_one(nil, 1)

return cmsgpack.unpack_one({}, {})

return cmsgpack.unpack_limit("\1\2\3", 2)

return cmsgpack.unpack_limit("\1\2\3", 2, 1)

return cmsgpack.unpack_limit("\1\2\3", 10, 0)

return cmsgpack.unpack_limit("\1\2\3", 0)

return cmsgpack.unpack_limit("\1\2\3", 0, 1)

return cmsgpack.unpack_limit("\1\2\3", 0, 0)

return cmsgpack.unpack_limit("\1\2\3", -1)

return cmsgpack.unpack_limit("\1\2\3", 1, -1)

return cmsgpack.unpack_limit("\1\2\3", 1, 2^32)

return cmsgpack.unpack_limit("\1\2\3")

return cmsgpack.unpack_limit("\1\2\3", "x")

return cmsgpack.unpack_limit("\1\2\3", nil)

return cmsgpack.unpack_limit("\1\2\3", 1, "x")

return cmsgpack.unpack_limit()

return cmsgpack.unpack_limit({}, 1)

return cmsgpack.unpack(("\145"):rep(100) .. "\1") ~= nil

local out = {} for _, f in ipairs{function(n) return cmsgpack.unpack(("\145"):rep(n) .. "\1") end, function(n) return cmsgpack.unpack(("\129\1"):rep(n) .. "\1") end, function(n) return cmsgpack.unpack(("\129"):rep(n) .. "\1" .. ("\1"):rep(n)) end, function(n) return cmsgpack.unpack(("\145\129\1"):rep(n) .. "\1") end, function(n) return cmsgpack.unpack(("\145"):rep(n) .. "\144") end, function(n) return (cmsgpack.unpack(("\1"):rep(n))) end, function(n) return (cmsgpack.unpack_limit(("\1"):rep(n), n)) end} do for _, n in ipairs{1999, 2000, 3998, 3999, 4000, 7997, 7998, 7999, 8000} do local ok, problem = pcall(f, n) out[#out + 1] = ok or problem end end return out

return cmsgpack.unpack(("\145"):rep(3990) .. "\1") ~= nil

return cmsgpack.unpack(("\145"):rep(5000))

return cmsgpack.unpack(("\129\1"):rep(5000))

return cmsgpack.unpack(("\129"):rep(9000))

return select("#", cmsgpack.unpack(("\1"):rep(7000)))

return cmsgpack.unpack(("\1"):rep(9000))

local t = {id = "job:1", ts = 1700000000000, data = {x = 1.5, y = {1, 2, 3}}, opts = {attempts = 3, backoff = {type = "exponential", delay = 1000}}, flags = {true, false}} return cmsgpack.unpack(cmsgpack.pack(t))

local a, b, c = cmsgpack.unpack(cmsgpack.pack({1, "a"}, "b", {k = "v"})) return a, b, c

local out = {} for i = 0, 20 do local t = {} for j = 1, i do t[j] = j end local u = cmsgpack.unpack(cmsgpack.pack(t)) u[i + 2] = "x" out[#out + 1] = {#u, u} end return out
