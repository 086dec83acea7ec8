-- The bit library: 32-bit integers, handed back signed.

local names = {} for k in pairs(bit) do names[#names + 1] = k end return names

local out = {} for _, v in ipairs{0, 1, -1, 255, 2^31 - 1, 2^31, 2^32 - 1, 2^32, 2^32 + 1, -2^31, -2^31 - 1, 2^40 + 3, 0.5, 1.5, 2.5, -0.5, -1.5, 1e10, 2^51, 2^51 + 1, 2^52, 2^53, 1e100, 1/0, -1/0, 0/0, "0xff", "12", " 7 ", "1e3"} do out[#out + 1] = bit.tobit(v) out[#out + 1] = bit.bnot(v) out[#out + 1] = bit.bswap(v) out[#out + 1] = bit.tohex(v) end return out

local out = {} for _, a in ipairs{0, 1, -1, 0x12345678, 0x87654321, 2^31, 255} do for _, b in ipairs{0, 1, -1, 0xff00ff00, 0x0f0f0f0f} do out[#out + 1] = {bit.band(a, b), bit.bor(a, b), bit.bxor(a, b)} end for n = -33, 65, 7 do out[#out + 1] = {bit.lshift(a, n), bit.rshift(a, n), bit.arshift(a, n), bit.rol(a, n), bit.ror(a, n)} end end return out

return bit.band(5), bit.bor(5), bit.bxor(2^32 + 5), bit.band(15, 7, 3), bit.bor(1, 2, 4, 8), bit.bxor(1, 3, 7), bit.lshift(1, 31), bit.lshift(1, 32), bit.rshift(-1, 28), bit.arshift(-1, 28), bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.bswap(0x12345678)

local out = {} for n = -12, 12 do out[#out + 1] = bit.tohex(0x12abcdef, n) end return out

return bit.tohex(1), bit.tohex(-1), bit.tohex(-1, 4), bit.tohex(255, -4), bit.tohex(255, 0), bit.tohex(255, 100), bit.tohex(255, -100), bit.tohex(255, -2^31), bit.tohex(255, 2^31), bit.tohex(255, 1.5), bit.tohex(255, "2")

return bit.tobit()

return bit.tobit(nil)

return bit.tobit("x")

return bit.tobit({})

return bit.bnot()

return bit.band()

return bit.band(1, nil)

return bit.band(1, nil, {})

return bit.band(nil, {})

return bit.bor("x", 1)

return bit.bxor(1, true)

return bit.lshift(1)

return bit.lshift()

return bit.lshift("x", 1)

return bit.rshift(1, "x")

return bit.arshift({}, 1)

return bit.rol(1, nil)

return bit.ror(nil, 1)

return bit.bswap()

return bit.bswap("")

return bit.tohex()

return bit.tohex(nil)

return bit.tohex(1, nil)

return bit.tohex(1, "x")

return pcall(bit.band, 1, "x")

return bit.band("0x10", 0xff), bit.bor("1", "2")
