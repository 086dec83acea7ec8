-- The math library. Results of transcendental functions are compared as a script usually shows them.

local names = {} for k in pairs(math) do names[#names + 1] = k end return names

return math.pi, math.huge, -math.huge, math.mod == math.fmod

local out = {} for _, f in ipairs{"abs", "ceil", "floor", "sqrt"} do for _, v in ipairs{0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, 1e15 + 0.5, 2^53, 1e300, -1e300, 1/0, -1/0, "3.7", "-3.7", 4, 2} do out[#out + 1] = tostring(math[f](v)) end end return out

local out = {} for _, f in ipairs{"acos", "asin", "atan", "cos", "sin", "tan", "cosh", "sinh", "tanh", "exp", "log", "log10", "deg", "rad"} do for _, v in ipairs{0, 1, -1, 0.5, -0.5, 0.1, 0.9, 2, 3, 10, -10, 100, 1e-10, 1e5, 1/0, -1/0, "0.5"} do out[#out + 1] = (tostring(math[f](v)):gsub("-nan", "nan")) end end return out

local out = {} for _, a in ipairs{0, 1, -1, 2, 5.5, -5.5, 1/0, -1/0, 1e300} do for _, b in ipairs{0, 1, -1, 2, 3.25, -3.25, 1/0, -1/0, 1e-300} do for _, f in ipairs{"atan2", "fmod", "pow", "mod"} do out[#out + 1] = (tostring(math[f](a, b)):gsub("-nan", "nan")) end end end return out

return math.pow(2, 10), math.pow(2, 0.5), math.pow(-8, 1/3) ~= math.pow(-8, 1/3), math.pow(0, 0), math.pow(1, 0/0), math.pow(2, -1), math.fmod(7, 3), math.fmod(-7, 3), math.fmod(7, -3), math.fmod(5.5, 2), tostring(math.fmod(-6, 3))

local out = {} for _, v in ipairs{0, -0.0, 1, -1, 0.5, 3.75, -3.75, 1e300, -1e300, 2^-1074, 2^-1022, 1/0, -1/0, 1e-320, "8"} do local m, e = math.frexp(v) out[#out + 1] = tostring(m) .. "," .. tostring(e) local i, f = math.modf(v) out[#out + 1] = tostring(i) .. "," .. tostring(f) end return out

local out = {} for _, v in ipairs{0, 1, -1, 0.75, 1e300, 1e-300, 2^-1074, 3 * 2^-1074, 1/0} do for _, e in ipairs{0, 1, -1, 10, -10, 1000, -1000, 1023, 1024, -1022, -1074, -1075, 2000, -2000, 2147483647, -2147483648, 2^40, 1.9, "3"} do out[#out + 1] = string.format("%.17g", math.ldexp(v, e)) end end return out

return math.max(1), math.max(1, 2, 3), math.max(-1, -2), math.max("5", 4), math.max(1/0, 5), math.min(1), math.min(3, 2, 1), math.min(-1/0, 1), math.min("2", 10), tostring(math.max(0/0, 1)), math.max(1, 0/0), math.min(1, 0/0), tostring(math.min(0, -0.0))

return math.max()

return math.min()

return math.max(1, nil)

return math.max(1, "x")

return math.max({})

return math.abs()

return math.abs("x")

return math.floor(nil)

return math.floor({})

return math.sqrt(true)

return math.pow(1)

return math.fmod()

return math.fmod(1, "x")

return math.atan2(1)

return math.frexp()

return math.ldexp(1)

return math.ldexp()

return math.pow()

return math.pow("x", "y")

return math.atan2("x")

return math.ldexp("x", 1)

return math.modf({})

return math.log(nil)

return math.log(8, 2), math.log10(1000), math.log10(2), math.exp(1), math.log(0)

math.randomseed(5) return math.random(100000), math.random(), math.random(10), math.random(5, 10), math.random(-10, -5), math.random(0, 1), math.random(1), math.random(7, 7)

local out = {} for _, s in ipairs{0, 1, 2, 42, -1, 2^31 - 1, -2^31, 2^32, 2^40, 123456789, 1.9, -1.9, 0/0, 1e300, "17"} do math.randomseed(s) out[#out + 1] = math.random() out[#out + 1] = math.random(1000000) out[#out + 1] = math.random(-5, 5) end return out

math.randomseed(7) local out = {} for i = 1, 100 do out[i] = math.random(2147483647) end return out

math.randomseed(7) return math.random(-2^31, 2^31 - 1), math.random(0, 2^31 - 1), math.random(-2^31, 0), math.random(2^31 - 1), math.random(1.9), math.random("3"), math.random(2^32 + 5)

math.randomseed(1) local a = math.random() pcall(math.random, 0) pcall(math.random, 1, 2, 3) pcall(math.random, "x") return a, math.random()

return select("#", math.randomseed(1))

return math.random(0)

return math.random(-5)

return math.random(5, 1)

return math.random(1, 2, 3)

return math.random("x")

return math.random(1, "x")

return math.random(nil)

return math.random(1, nil)

return math.random({})

return math.randomseed()

return math.randomseed("x")

return math.floor(3.7), math.ceil(3.2), math.floor(-3.7), math.ceil(-3.2), math.floor("10"), math.abs(-2^63), math.sqrt(2), tostring(math.ceil(-0.5))

return pcall(function() math.pi = 3 end)
