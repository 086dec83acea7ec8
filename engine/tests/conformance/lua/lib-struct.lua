-- The struct library: sizes, byte orders, alignment, bounds.

local names = {} for k in pairs(struct) do names[#names + 1] = k end return names

local out = {} for _, f in ipairs{"b", "B", "h", "H", "l", "L", "T", "i", "I", "i1", "i2", "i3", "i4", "i5", "i7", "i8", "i9", "i16", "i32", "I1", "I3", "I8", "I12", "I32", "i0", "I0"} do for _, e in ipairs{"", "<", ">"} do for _, v in ipairs{0, 1, -1, 127, 128, 255, 256, -128, -129, 65535, 2^31, 2^32 + 5, -2^31, 2^53, 2^63, 2^64, -2^63, 1e300, 0/0, 1.9, -1.9, "12"} do local s = struct.pack(e .. f, v) out[#out + 1] = s out[#out + 1] = struct.unpack(e .. f, s) end end end return out

local out = {} for _, f in ipairs{"f", "d", "<f", ">f", "<d", ">d"} do for _, v in ipairs{0, 1, -1, 1.5, 0.1, 1e300, -1e300, 1e-300, 1/0, -1/0, 3.4e38, 16777217, "2.5"} do local s = struct.pack(f, v) out[#out + 1] = s out[#out + 1] = struct.unpack(f, s) end end return out

return struct.pack("s", "abc"), struct.pack("s", ""), struct.pack("ss", "a", "b"), struct.pack("c3", "abcdef"), struct.pack("c", "abc"), struct.pack("c0", "abc"), struct.pack("c0", ""), struct.pack("x"), struct.pack("xxx"), struct.pack(""), struct.pack(" b b ", 1, 2), struct.pack("s", "a\0b"), struct.pack("s", 12), struct.pack("b\0b", 1, 2)

return struct.pack("!bd", 1, 2), struct.pack("!4bd", 1, 2), struct.pack("!2bi", 1, 2), struct.pack("!bhi", 1, 2, 3), struct.pack("bhi", 1, 2, 3), struct.pack("!8bhild", 1, 2, 3, 4, 5), struct.pack("!bc3h", 1, "abc", 2), struct.pack("!bsh", 1, "ab", 2), struct.pack("!1bd", 1, 2), struct.pack("!16bd", 1, 2), struct.pack("!bi3", 1, 2), struct.pack("!bi7", 1, 2), struct.pack("!xd", 1), struct.pack("!8bi16", 1, 2)

return struct.size("b"), struct.size("bhild"), struct.size("!bhild"), struct.size("!4bd"), struct.size("c10"), struct.size("i3"), struct.size("xx"), struct.size(""), struct.size("!8bi16"), struct.size("<b>h i"), struct.size("y"), struct.size("T"), struct.size("9")

return struct.unpack("bhi", struct.pack("bhi", 1, 2, 3))

return struct.unpack("<i>i", struct.pack("<i>i", 5, 6))

return struct.unpack("!bd", struct.pack("!bd", 1, 2.5))

return struct.unpack("s", "abc\0def"), struct.unpack("ss", "a\0b\0"), struct.unpack("c2", "abcd"), struct.unpack("c", "abcd"), struct.unpack("bc0", "\3abcdef"), struct.unpack("x", "a"), struct.unpack("", "abc"), struct.unpack("", ""), struct.unpack("xb", "ab")

return struct.unpack("b", "abc", 2)

return struct.unpack("b", "abc", 3)

return struct.unpack("b", "abc", 4)

return struct.unpack("", "abc", 4)

return struct.unpack("", "abc", 5)

return struct.unpack("", "abc", 100)

return struct.unpack("b", "abc", 0)

return struct.unpack("b", "abc", -1)

return struct.unpack("b", "abc", -2^63)

return struct.unpack("b", "abc", 2^62)

return struct.unpack("b", "abc", 1.9)

return struct.unpack("b", "abc", "2")

return struct.unpack("b", "abc", nil)

return struct.unpack("!8d", "12345678", -1)

return struct.unpack("i", "abc")

return struct.unpack("d", "")

return struct.unpack("s", "abc")

return struct.unpack("c10", "abc")

return struct.unpack("c0", "abc")

return struct.unpack("sc0", "x\0abc")

return struct.unpack("sc0", "2\0abc")

return struct.unpack("bc0", "\255abc")

return struct.unpack("Bc0", "\255abc")

return struct.unpack("bc0", "\5abc")

return struct.unpack("dc0", struct.pack("d", 1.9) .. "abc")

return struct.unpack("bc0c0", "\1\2abc")

return struct.unpack("bbc0c0", "\1\2abc")

return struct.unpack("bxc0", "\1\2abc")

return struct.pack("c5", "abc")

return struct.pack("bc5", 1, "abc")

return struct.pack("c2147483647", "abc")

return struct.pack("c2147483648", "abc")

return struct.pack("i33", 1)

return struct.pack("i99", 1)

return struct.pack("i99999999999", 1)

return struct.pack("I2147483647", 1)

return struct.pack("I2147483648", 1)

return struct.pack("!3", 1)

return struct.pack("!0", 1)

return struct.pack("!9999999999", 1)

return struct.pack("!1073741824b", 1)

return struct.pack("y", 1)

return struct.pack("=i", 1)

return struct.pack("@i", 1)

return struct.pack("5", 1)

return struct.pack("b")

return struct.pack("b", "x")

return struct.pack("b", nil)

return struct.pack("bb", 1)

return struct.pack("s")

return struct.pack("s", {})

return struct.pack("d", {})

return struct.pack("f", "x")

return struct.pack()

return struct.pack({})

return struct.unpack()

return struct.unpack("b")

return struct.unpack("b", {})

return struct.unpack("b", "a", "x")

return struct.unpack("y", "abc")

return struct.unpack("=b", "abc")

return struct.unpack("i33", "abc")

return struct.unpack("!3", "abc")

return struct.size()

return struct.size("s")

return struct.size("c0")

return struct.size("=")

return struct.size("!3")

return struct.size("i33")

return struct.size("c2147483647c2147483647")

return struct.size({})

return pcall(struct.pack, "b", "x")

return struct.unpack(("b"):rep(7000), ("\1"):rep(7000)) == 1

return pcall(struct.unpack, ("b"):rep(9000), ("\1"):rep(9000))

return struct.pack(">I2", 258), struct.unpack(">I2", "\1\2"), struct.unpack(">I3", "\1\2\3"), struct.unpack("<I5", "\1\2\3\4\5"), struct.unpack(">i8", "\255\255\255\255\255\255\255\254"), struct.unpack(">I8", "\255\255\255\255\255\255\255\254"), struct.unpack(">i9", "\1\255\0\0\0\0\0\0\1")
