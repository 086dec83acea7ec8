-- The cjson library: texts, layouts of what is decoded, settings, errors.

local names = {} for k in pairs(cjson) do names[#names + 1] = k end return names

return cjson._NAME, cjson._VERSION, type(cjson.null), tostring(cjson.null), cjson.null == cjson.null, cjson.null == nil

return cjson.encode({}), cjson.encode({1, 2, 3}), cjson.encode({a = 1}), cjson.encode("x"), cjson.encode(1), cjson.encode(true), cjson.encode(false), cjson.encode(nil), cjson.encode(cjson.null), cjson.encode({{}, {{}}}), cjson.encode({a = {b = {c = 1}}}), cjson.encode(""), cjson.encode({[1] = "a", [2] = "b", x = "c"})

return cjson.encode({a = 1, b = 2, c = 3, d = 4, e = 5}), cjson.encode({name = "n", id = 7, tags = {"x", "y"}, nested = {z = 1, y = 2, x = 3}}), cjson.encode({[1.5] = 1, [-1] = 2, [0] = 3}), cjson.encode({[0] = 1}), cjson.encode({[10] = 1}), cjson.encode({nil, 2}), cjson.encode({1, nil, 3}), cjson.encode({[3] = 1})

local s = "" for i = 0, 255 do s = s .. string.char(i) end return cjson.encode(s), cjson.encode({[s] = s})

local out = {} for _, v in ipairs{0, -0.0, 1, -1, 0.1, 1/3, 100, 1e14, 1e15, 123456789012345, 1234567890123456, 2^31, 2^53, 1e100, 1e-5, 1e-4, 0.00001234, 5e-324, 1.7976931348623157e308, 99999999999999.5, 3.14159265358979, -2^31, 4294967296.5} do out[#out + 1] = cjson.encode(v) end return out

return cjson.encode(0/0)

return cjson.encode(1/0)

return cjson.encode(-1/0)

return cjson.encode({1, 0/0})

return cjson.encode({[1/0] = 1})

return cjson.encode(function() end)

return cjson.encode({function() end})

return cjson.encode(coroutine.create(function() end))

return cjson.encode({[{}] = 1})

return cjson.encode({[true] = 1})

return cjson.encode({[cjson.null] = 1})

return cjson.encode()

return cjson.encode(1, 2)

return pcall(cjson.encode)

return cjson.encode({[11] = 1})

return cjson.encode({[1] = 1, [100] = 2})

return cjson.encode({[2^31] = 1}), cjson.encode({[2^40] = 1}), cjson.encode({[1] = 1, [2^31] = 1})

return cjson.encode({1, 2, 3, [7] = 1}), cjson.encode({1, 2, 3, 4, 5, [12] = 1}), pcall(cjson.encode, {1, 2, 3, 4, 5, [13] = 1})

local t = {} t.t = t return cjson.encode(t)

local t = {} t[1] = t return cjson.encode(t)

local t = {} for i = 1, 999 do t = {t} end return #cjson.encode(t)

local t = {} for i = 1, 1000 do t = {t} end return cjson.encode(t)

local t = {} for i = 1, 1000 do t = {a = t} end return cjson.encode(t)

return cjson.encode(setmetatable({1, 2}, {__index = function() return 5 end, __tostring = function() return "x" end}))

return cjson.encode("a/b\"c\\d\127\t\n\r\b\f\1"), cjson.encode("\195\169"), cjson.encode("\255")

return cjson.decode("{}"), cjson.decode("[]"), cjson.decode("[1,2,3]"), cjson.decode('{"a":1,"b":[true,false,null],"c":{"d":"e"}}'), cjson.decode("1"), cjson.decode('"x"'), cjson.decode("true"), cjson.decode("false"), cjson.decode("null"), cjson.decode("  [ 1 , 2 ]  "), cjson.decode("\t\n\r 5 \n")

return cjson.decode('{"a":1,"a":2}'), cjson.decode('{"1":1}'), cjson.decode('{"":1}'), cjson.decode('{"__proto__":1,"constructor":2,"toString":3}'), cjson.decode("[[],{},[[]]]"), cjson.decode(12), cjson.decode("[null]"), #cjson.decode("[null,null]")

local out = {} for n = 0, 33 do local parts = {} for i = 1, n do parts[i] = '"k' .. i .. '":' .. i end out[#out + 1] = cjson.decode("{" .. table.concat(parts, ",") .. "}") end return out

local out = {} for n = 0, 18 do local parts = {} for i = 1, n do parts[i] = i end local t = cjson.decode("[" .. table.concat(parts, ",") .. "]") out[#out + 1] = t t[n + 2] = "x" out[#out + 1] = #t t.y = 1 t[n + 5] = 2 local order = {} for k in pairs(t) do order[#order + 1] = k end out[#out + 1] = order end return out

return cjson.encode(cjson.decode('{"id":"abc","status":"active","score":12.5,"tags":["a","b"],"meta":{"created":1,"updated":2,"owner":null},"ok":true}'))

local out = {} for _, s in ipairs{"0", "-0", "1", "-1", "01", "-01", "007", "1.5", "1.", "-1.", ".5", "-.5", "1e5", "1E5", "1e+5", "1e-5", "1e", "1e+", "0x10", "0xff", "-0xFF", "0x", "0x1.8p1", "0x.8", "0xg", "+1", "+", "-", "--1", "inf", "-inf", "Infinity", "-Infinity", "INF", "infinit", "nan", "NaN", "-nan", "nan(123)", "nan(", "123456789012345678", "1234567890123456", "0.1", "1e400", "-1e400", "1e-400", "1_000", "1 2", "1a", "12345678901234567890123", "1e5x", "0e0", "00", "1.5.5", "1.e5", "999999999999999", "9007199254740993", "0.30000000000000004", "5e-324", "2.2250738585072011e-308"} do local ok, v = pcall(cjson.decode, s) out[#out + 1] = {s, ok, v == v and v or "nan"} end return out

local out = {} for _, s in ipairs{'""', '"a"', '"\\n\\t\\r\\b\\f\\/\\\\\\""', '"\\u0041"', '"\\u00e9"', '"\\u20ac"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\uD800"', '"\\uDC00"', '"\\ud800\\u0041"', '"\\ud800x"', '"\\ud83d\\ude0"', '"\\u12"', '"\\u12g4"', '"\\x"', '"\\', '"\\"', '"abc', '"', '"a\nb"', '"a\tb"', "'a'", '"\195\169"', '"\255"', '"a\0b"', '"\\ua"', '"\\uABCD\\uabcd"', '"x\\u0041y\\u0042z"', '"\\ud83d\\ude00\\ud83d\\ude00"', '"\\uffff"', '"\\u07ff\\u0800"', '"\\u007f\\u0080"', '"\\a"', '"\\0"', '"\\u"'} do out[#out + 1] = {pcall(cjson.decode, s)} end return out

local out = {} for _, s in ipairs{"", " ", "[", "]", "{", "}", ",", ":", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "{1:2}", '{"a"', '{"a":', '{"a":}', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', '{a:1}', '{"a":1 "b":2}', '{"a"::1}', "{,}", "{]", "[}", "[1}", '{"a":1]', "tru", "true1", "truefalse", "nul", "nulL", "null null", "fals", "False", "True", "NULL", "undefined", "x", "@", "\1", "\127", "\255", "[\1]", "//c", "/* */1", "1,2", "[1]]", "{}{}", "[1]x", "nope", "i", "n", "N", "I", "+", "- 1", "[tru]", '{"a":tru}', '{"a":"b}', '{"a\\x":1}', '{true:1}', '{null:1}', '{[]:1}', '{"a"=1}', '{"a"true}', '{"a""b"}', '{"a"1}', '{"a"{}}', '{"a"null}', '[1"a"]', "[1[2]]", "[1{}]", "[1true]", "[1null]", "[1:2]", '["a":1]', "{nan:1}", "{1e:1}", "{-:1}", '[1"a]', '{"a":1"b}', "[1-]", "[1+]", "[1inf]", "[1x", "1\0002", "12\0garbage", "\0001", "1\0", "\0", "[1]\0", "[1\0]"} do out[#out + 1] = {s, pcall(cjson.decode, s)} end return out

return cjson.decode("x")

return cjson.decode("")

return cjson.decode()

return cjson.decode(nil)

return cjson.decode({})

return cjson.decode(true)

return cjson.decode("1", "2")

return pcall(cjson.decode)

return #cjson.decode(("["):rep(1000) .. ("]"):rep(1000))

return cjson.decode(("["):rep(1001) .. ("]"):rep(1001))

return cjson.decode(('{"a":'):rep(1001))

return cjson.decode(("["):rep(1000))

return cjson.decode(("[1,"):rep(2000))

return cjson.encode_sparse_array(), cjson.encode_max_depth(), cjson.decode_max_depth(), cjson.encode_number_precision(), cjson.encode_keep_buffer(), cjson.encode_invalid_numbers(), cjson.decode_invalid_numbers()

local c = cjson.new() local out = {{c.encode_sparse_array(true)}, c.encode({[100] = 1}), {c.encode_sparse_array(false, 0)}, c.encode({[20] = 1}), {c.encode_sparse_array("on", 1, 3)}, c.encode({1, [3] = 1}), c.encode({1, [4] = 1}), {c.encode_sparse_array("off", 3, 0)}, pcall(c.encode, {1, [4] = 1}), c.encode({1, [3] = 1})} return out

local c = cjson.new() local names = {} for k in pairs(c) do names[#names + 1] = k end return names, c.null == cjson.null, c.encode ~= cjson.encode, c._NAME

local c = cjson.new() c.encode_max_depth(2) return c.encode({{}}), pcall(c.encode, {{{}}})

local c = cjson.new() c.decode_max_depth(2) return c.decode("[[]]"), pcall(c.decode, "[[[]]]"), pcall(c.decode, '{"a":{"b":{}}}')

local c = cjson.new() local out = {} for p = 1, 14 do c.encode_number_precision(p) for _, v in ipairs{0, 1, 123456, 1/3, 0.5, 2.5, 12.5, 99999.5, 1e20, 1e-7, -1/3, 123456789012345} do out[#out + 1] = c.encode(v) end end return out

local c = cjson.new() return c.encode_keep_buffer(false), c.encode({1}), c.encode_keep_buffer(true), c.encode_keep_buffer("off"), c.encode_keep_buffer("on")

local c = cjson.new() return c.encode_invalid_numbers(true), c.encode(1/0), c.encode(-1/0), c.encode(0/0), c.encode_invalid_numbers("null"), c.encode(1/0), c.encode(0/0), c.encode({1, 0/0}), c.encode_invalid_numbers("on"), c.encode_invalid_numbers("off"), c.encode_invalid_numbers(false), pcall(c.encode, 0/0)

local c = cjson.new() c.encode_invalid_numbers(true) return c.encode({[1/0] = 1})

local c = cjson.new() c.decode_invalid_numbers(false) local out = {} for _, s in ipairs{"0", "-0", "01", "-01", "1.5", "1.", "-.5", "0x10", "+1", "inf", "-inf", "nan", "-nan", "Infinity", "-", "1e5", "-Infinity", "00", "-x", "0", "-0x1", "10", "[1,01]", "i", "n"} do out[#out + 1] = {s, pcall(c.decode, s)} end return out

local c = cjson.new() return c.encode_sparse_array(1)

local c = cjson.new() return c.encode_sparse_array("x")

local c = cjson.new() return c.encode_sparse_array(true, -1)

local c = cjson.new() return c.encode_sparse_array(true, "x")

local c = cjson.new() return c.encode_sparse_array(true, 1, -1)

local c = cjson.new() return c.encode_sparse_array(true, 1, 2, 3)

local c = cjson.new() return c.encode_sparse_array(nil, nil, 5)

local c = cjson.new() return c.encode_max_depth(0)

local c = cjson.new() return c.encode_max_depth("x")

local c = cjson.new() return c.encode_max_depth(1, 2)

local c = cjson.new() return c.encode_max_depth(2^31)

local c = cjson.new() return c.encode_max_depth({})

local c = cjson.new() return c.decode_max_depth(-1)

local c = cjson.new() return c.encode_number_precision(15)

local c = cjson.new() return c.encode_number_precision(0)

local c = cjson.new() return c.encode_number_precision(1.9), c.encode_number_precision("3")

local c = cjson.new() return c.encode_keep_buffer("x")

local c = cjson.new() return c.encode_keep_buffer({})

local c = cjson.new() return c.encode_keep_buffer(1, 2)

local c = cjson.new() return c.encode_invalid_numbers("nul")

local c = cjson.new() return c.encode_invalid_numbers(1)

local c = cjson.new() return c.decode_invalid_numbers("null")

local c = cjson.new() return c.new() ~= nil, c.new(1, 2) ~= nil

return cjson.encode(cjson.decode("[]")), cjson.encode(cjson.decode('{"a":[],"b":{}}')), cjson.encode(cjson.decode("[1.0,2.50,1e3]")), cjson.decode(cjson.encode({a = {1, 2, {b = "c"}}})).a[3].b

local t = cjson.decode('{"a":null}') return t.a == cjson.null, t.a == nil, type(t.a)
