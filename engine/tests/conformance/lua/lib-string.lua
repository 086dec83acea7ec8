-- The string library: every function over edge cases, and its errors.

local names = {} for k in pairs(string) do names[#names + 1] = k end return names

local function each(f, ...) local out = {} for i = 1, select("#", ...) do out[i] = {pcall(f, "hello", (select(i, ...)))} end return out end
return each(string.sub, 1, 2, 5, 6, 7, 0, -1, -5, -6, -100, 2.7, -2.7, "2", " 3 ", "0x2", 1e308, -1e308, 0/0, 2^53, 2^63, -2^63, nil, true, {}, "x")

local out = {} for _, i in ipairs{1, 2, 5, 6, 0, -1, -3, -5, -9, 2^31, -2^31, 2^32 + 1} do for _, j in ipairs{1, 3, 5, 9, 0, -1, -3, -9, 2^40, -2^40} do out[#out + 1] = string.sub("hello", i, j) end end return out

return string.sub(12345, 2, 3), string.sub("", 1, 1), string.sub("x", nil and 1 or 1), ("a\0b"):sub(2, 2)

return string.sub()

return string.sub("x")

return string.sub(nil, 1)

return string.sub({}, 1)

return string.sub("x", "y")

return string.sub("x", 1, {})

local s = "x" return s:sub({})

local s = {} return s:sub(1)

return ("x"):sub()

return ("x"):rep({})

return ("x"):bad()

return ("x").y, ("x").len

return string.len("abc"), string.len(""), string.len(12.5), string.len("a\0b"), #"a\0b", ("x"):len()

return string.len()

return string.len(nil)

return string.len({})

return string.byte("abc"), string.byte("abc", 2), string.byte("abc", -1), string.byte("abc", 1, -1), string.byte("abc", 10), string.byte("")

return (string.byte("\255\128\0", 1)), (string.byte("\255\128\0", 2)), (string.byte("\255\128\0", 3))

return select("#", string.byte("abc", 3, 1)), select("#", string.byte("abc", 0)), select("#", string.byte("abc", 0, 2)), select("#", string.byte("abc", -100, 100)), select("#", string.byte("abc", 4))

local out = {} for _, i in ipairs{0, 1, 2, 3, 4, -1, -3, -4, -100, 2^31, 0.5} do for _, j in ipairs{0, 1, 3, 4, -1, -3, -100, 100} do out[#out + 1] = {string.byte("abc", i, j)} end end return out

return pcall(string.byte, ("x"):rep(10000), 1, -1)

return #{string.byte(("x"):rep(7000), 1, -1)}

return string.byte(("x"):rep(8100), 1, -1)

return string.byte(nil)

return string.byte("x", "y")

return string.byte("x", 1, true)

return string.char(), string.char(65), string.char(0, 255, 128), string.char("66"), string.char(67.9)

return string.char(256)

return string.char(-1)

return string.char(65, 66, 1e10)

return string.char("x")

return string.char(65, nil)

return string.char(2^32 + 65)

return pcall(string.dump)

return string.dump("x")

return pcall(string.dump, print)

return pcall(string.dump, string.len)

return string.upper("abcXYZ09[\224\255\181"), string.lower("ABCxyz09[\192\223"), string.upper(""), string.lower(12), ("\0aZ"):upper(), ("\0aZ"):lower()

local all = {} for i = 0, 255 do all[#all + 1] = string.char(i) end all = table.concat(all) return all:upper(), all:lower(), all:reverse(), #all:upper()

return string.upper()

return string.lower({})

return string.reverse("abc"), string.reverse(""), string.reverse(123), string.reverse(("ab"):rep(100)), string.reverse("\0\255x")

return string.reverse()

return string.rep("ab", 3), string.rep("ab", 0), string.rep("ab", -5), string.rep("", 100), string.rep("x", 2.9), string.rep("x", "4"), string.rep(1, 3), string.rep("x", 2^32 + 3), string.rep("x", 0/0), string.rep("x", 1e300)

return string.rep("x")

return string.rep()

return string.rep("x", "y")

return string.rep("x", {})

return pcall(string.rep, "x", nil)

return string.find("hello", "l"), string.find("hello", "xyz"), string.find("hello", ""), string.find("", ""), string.find("hello", "", 6), string.find("hello", "", 7), string.find("hello", "", 100), string.find("hello", "", -100)

local out = {} for _, init in ipairs{1, 3, 4, 5, 6, 7, 0, -1, -2, -5, -6, 2^40, -2^40, "3", 1.9} do out[#out + 1] = {string.find("hello", "l", init)} out[#out + 1] = {string.find("hello", "[lo]", init)} out[#out + 1] = {string.match("hello", "(l)(.?)", init)} out[#out + 1] = {string.find("hello", "^.", init)} end return out

return string.find("a.b", ".", 1, true), string.find("a.b", ".", 2, true), string.find("a.b", "%.", 1, 0), string.find("a.b", "%.", 1, false), string.find("a+b", "+b", 1, true), string.find("a\0b", "\0"), string.find("a\0b", "b"), string.find("a\0b", "a\0b"), string.find("axb", "a\0b"), string.find("a\0b", "a%z")

return string.find("abc\0def", "c\0d"), string.find("abc\0def", "%z"), string.find("abc\0d", "[%z]d"), string.match("abc\0def", "c(.)d"), string.match("a.", "a.\0%"), string.find("ab", "a\0%")

return string.find()

return string.find("x")

return string.find(nil, "x")

return string.find("x", {})

return string.find("x", "y", "z")

return string.match("x")

return string.match("x", "x", {})

return string.gmatch("x")

return string.gmatch()

return string.gsub("x", "y")

return string.gsub("x", "y", nil)

return string.gsub("x", "y", true)

return string.gsub("x", "y", {}, "z")

return string.gsub("x", "y", nil, "z")

return string.gsub("x")

return string.gsub()

return pcall(string.gsub, "x", "y")

return string.find("x", "%")

return string.find("x", "x%")

return string.find("abc", "z%")

return string.find("x", "[a")

return string.find("x", "[]")

return string.find("x", "[^]")

return string.find("x", "[a%")

return string.find("x", "[%]")

return string.find("x", "%f")

return string.find("x", "%fa")

return string.find("x", "x%f[")

return string.find("x", "%b")

return string.find("x", "%bx")

return string.find("x", "(")

return string.find("x", "(x")

return string.find("x", ")")

return string.find("x", "x)")

return string.find("x", "(()")

return string.match("x", "((x)")

return string.find("x", "%1")

return string.find("x", "%0")

return string.find("x", "(%1)")

return string.find("xx", "(x)%1"), string.find("xy", "(x)%1"), string.find("xx", "()%1"), string.find("xyxy", "((x)(y))%1"), string.find("xyxy", "(x)(y)%2")

return string.find("xx", "(x)%2")

return string.find("x", ("(x"):rep(33))

return string.find("x", ("()"):rep(32))

return string.find("x", ("()"):rep(33))

return string.gsub("abc", "(a", "x")

return string.gsub("abc", "(a", "%1")

return string.gsub("abc", "(a)", "%2")

return string.gsub("abc", "a", "%1"), string.gsub("abc", "a", "%0%0"), string.gsub("abc", "a", "%%"), string.gsub("abc", "a", "%"), string.gsub("abc", "a", "x%"), string.gsub("abc", "()b", "%1"), string.gsub("abc", "a", "%x")

return string.gsub("abc", "a", "%2")

return string.gsub("abc", "(a)(b)", {ab = 1}), string.gsub("abc", "(a)(b)", {a = 1}), string.gsub("abc", "%w", {a = "1", b = true and "2", c = false}), string.gsub("abc", "()", {[1] = "x", [2] = 7})

return string.gsub("abc", "%w", {a = true})

return string.gsub("abc", "%w", {a = {}})

return string.gsub("abc", "%w", function() return {} end)

return string.gsub("abc", "%w", function() return true end)

return string.gsub("abc", "%w", function(c) return c .. c end), string.gsub("abc", "%w", function(c) return nil end), string.gsub("abc", "%w", function(c) return false end), string.gsub("abc", "%w", function(c) return 1.5 end), string.gsub("abc", "(%w)(%w)", function(a, b) return b .. a end), string.gsub("abc", "()", function(p) return p end)

return string.gsub("abc", "%w", function() error("inside") end)

return string.gsub("abc", "%w", function() error({}) end)

return string.gsub("abc", "%w", function() local x = nil; return x.y end)

return string.gsub("hello world", "o", "0", 1), string.gsub("hello world", "o", "0", 0), string.gsub("hello world", "o", "0", -1), string.gsub("hello", "", "-"), string.gsub("hello", "", "-", 3), string.gsub("", "", "-"), string.gsub("hello", "l*", "x"), string.gsub("hello", ".-", "x"), string.gsub("hello", "$", "!"), string.gsub("hello", "^", "!"), string.gsub("hello", "^h", "!"), string.gsub("hello", "^l", "!"), string.gsub("a^b", "^", "x"), string.gsub("a^b", "%^", "x"), string.gsub(12321, 2, 5), string.gsub("abc", "b", 5)

return string.gsub("abc def", "%w+", "<%0>"), string.gsub("abc def", "(%w+) (%w+)", "%2 %1"), string.gsub("x = 1, y = 2", "(%w) = (%w)", "%2=%1"), string.gsub("hello", "l", setmetatable({}, {__index = function(t, k) return k:upper() end}))

local n = 0 return string.gsub("abc", ".", function(c) n = n + 1 return (string.gsub(c, ".", function(d) return d .. n end)) end)

return string.gsub("hello", "(l)(l)(o)", "%3%2%1%0"), string.gsub("hello", "x*", "-"), string.gsub("\0a\0", "%z", "0"), string.gsub("\0a\0", "\0", "0")

local out = {} for a, b in string.gmatch("k1=v1, k2=v2", "(%w+)=(%w+)") do out[#out + 1] = a .. b end for w in string.gmatch("one two", "%a+") do out[#out + 1] = w end for p in string.gmatch("abc", "()") do out[#out + 1] = p end for w in ("a,b,,c"):gmatch("([^,]*)") do out[#out + 1] = "[" .. w .. "]" end for w in string.gfind("x y", "%S") do out[#out + 1] = w end return out

local out = {} for w in string.gmatch("^a^a", "^a") do out[#out + 1] = w end return out

local f = string.gmatch("abc", "%") return f()

local f = string.gmatch("abc", "(") return f()

local f = string.gmatch("a", "a") return f(), f(), select("#", f())

return string.gmatch == string.gfind, type(string.gmatch("a", "a"))

local s = "" for i = 0, 255 do s = s .. string.char(i) end local out = {} for c in ("acdlpsuwxz"):gmatch(".") do out[#out + 1] = s:gsub("%" .. c, "") out[#out + 1] = s:gsub("%" .. c:upper(), "") out[#out + 1] = s:gsub("[%" .. c .. "]", "") out[#out + 1] = s:gsub("[^%" .. c .. "]", "") end return out

local s = "" for i = 0, 255 do s = s .. string.char(i) end local out = {} for _, p in ipairs{"[a-z]", "[^a-z]", "[]]", "[^]]", "[]-a]", "[a-]", "[-a]", "[%a-z]", "[a-%%]", "[%]]", "[%-]", "[z-a]", "[\128-\255]", "[+--]", "[^^]", "[^%s%d]", "[%w_]", "[a-c%dx-z]", "[%%]", "[.]", "[$]", "%.", "%-", "%_", "[%g]", "%g", "%q", "[a-a]", "[]a-c]", "[^]a-c]", "[a%-c]", "[%a%-]"} do out[#out + 1] = s:gsub(p, "") end return out

local out = {} for _, p in ipairs{"%b()", "%bxx", "%b((", "(%b())", "%b()%b()", "f%b()", "%b()$", "^%b()", "%b[]"} do out[#out + 1] = {string.find("f(a(b)c)(d) xx [x]", p)} end return out

local out = {} for _, p in ipairs{"%f[%w]%w+", "%f[%W]", "()%f[%w]()", "%f[^%w]()", "%f[%z]()", "THE%f[%W]", "%f[a]"} do out[#out + 1] = {string.find("THE (quick) fox THE", p)} out[#out + 1] = {string.gsub("THE (quick) fox THE", p, "<%0>")} end return out

local out = {} for _, p in ipairs{"a*", "a+", "a-", "a?", "a*b", "a+b", "a-b", "a?b", ".*b", ".+b", ".-b", ".?b", "(a*)(b*)", "(a-)(b-)$", "a*a*a*b", "a?a?aa", "(.-)(%s*)$", "^(.-)%s*$", "^%s*(.-)%s*$", "[ab]*c", "x*()", "()x*", "a$", "$", "^", "^$", "$a", "a$b", "a^", "*", "+", "?", "-", "a**", "a-*", "a+?", "^*", "^+a", "(*)", ".", "..", "a.c", "%d%d?", "(%a)(%d*)", "(.)%1", "((.)%2)", "(a)(b)?"} do for _, s in ipairs{"", "aaab", "b", "  trim me  ", "aab$a^*+", "a1b22"} do out[#out + 1] = {pcall(string.find, s, p)} end end return out

local out = {} for _, p in ipairs{"a*", "a+", "a-", "a?", "(a)", "()", "%a", "[^a]", "b$", "^a", "ab", "a(b)", "(a)(b)", "%w-", ".", ""} do for _, s in ipairs{"", "aaab", "b", "ab ab", "xaby"} do out[#out + 1] = {string.gsub(s, p, "<%0>")} out[#out + 1] = {string.match(s, p)} local t = {} for a, b in string.gmatch(s, p) do t[#t + 1] = tostring(a) .. "," .. tostring(b) end out[#out + 1] = table.concat(t, ";") end end return out

return string.find(("a"):rep(15), ("a?"):rep(15) .. ("a"):rep(15)), string.match(("a"):rep(300), ("a?"):rep(300)), string.find(("a"):rep(1000), ".-b"), string.find(("a"):rep(60), ("a-"):rep(3) .. "b")

return ("x"):rep(3), ("%d"):format(5), ("abc"):find("b"), ("abc"):gsub("b", "x"), ("abc"):byte(-1), ("a,b"):match("(.-),(.*)"), #("x"):rep(10)

local t = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[k] = v end return t

local mt = getmetatable("") return type(mt), mt.__index == string

return pcall(function() getmetatable("").__index = 1 end)

return pcall(function() string.x = 1 end)
