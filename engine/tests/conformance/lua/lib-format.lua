-- string.format against C's printf.

return string.format("%d %i %u %c %x %X %o %e %E %f %g %G %q %s %%", 1, 2, 3, 65, 255, 255, 8, 1.5, 1.5, 1.5, 1.5, 1.5, "q", "s")

local out = {} for _, f in ipairs{"%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%+5d", "%-+5d|", "%.3d", "%5.3d", "%-5.3d|", "%05.3d", "%.0d", "%.d", "%#d", "%i", "%3i", "% 05d", "%+05d", "%-05d|", "%0-5d|", "%99d", "%.99d", "%99.99d", "%+ d", "% +d"} do for _, v in ipairs{0, 1, -1, 42, -42, 123456, 1.9, -1.9, -0.5, 2^31, -2^31, 2^53, 2^62, 2^63, -2^63, 2^64, 1e300, -1e300, 1/0, -1/0, 0/0, "12", "0x10", " 7 "} do out[#out + 1] = string.format(f, v) end end return out

local out = {} for _, f in ipairs{"%u", "%x", "%X", "%o", "%#x", "%#X", "%#o", "%5x", "%-5x|", "%05x", "%.3x", "%#.3x", "%#5x", "%#05x", "%-#8x|", "%.0x", "%.0o", "%#.0o", "%+x", "% x", "%10u", "%.5u", "%20o"} do for _, v in ipairs{0, 1, -1, 42, 255, 65535, 2^31, 2^32, 2^53, 2^53 + 2, 2^63, 2^63 + 2048, 2^64 - 2048, 2^64, 1e300, -2^63, -2^64, 1/0, -1/0, 0/0, 1.9, -1.9, -0.5} do out[#out + 1] = string.format(f, v) end end return out

local out = {} for _, f in ipairs{"%e", "%E", "%f", "%g", "%G", "%.0e", "%.0f", "%.0g", "%#.0e", "%#.0f", "%#.0g", "%.1e", "%.1f", "%.1g", "%.2f", "%.3g", "%.10g", "%.14g", "%.15g", "%.16g", "%.17g", "%.20g", "%.20e", "%.20f", "%#g", "%#.3g", "%10f", "%-10f|", "%010f", "%+f", "% f", "%+010.2f", "%-+10.2f|", "%10.3e", "%010.3e", "%-12.3e|", "%10g", "%010g", "%+g", "%.f", "%.e", "%.g", "%5.1f", "%.99f", "%.99e", "%.99g", "%99.50f", "%#.99g"} do for _, v in ipairs{0, -1/(1/0), 1, -1, 0.5, 1.5, 2.5, 3.5, -0.5, -2.5, 0.25, 0.125, 0.375, 1/3, 2/3, 123456789, 1234567.5, 999999.5, 999999.4999, 0.0001, 0.00001, 0.00012345678, 9.5, 9.9999995, 99999.95, 1e15, 1e16, 1e17, 1e21, 1e22, 1.7976931348623157e308, 2.2250738585072014e-308, 4.9406564584124654e-324, 2^53, 2^53 + 1, 2^63, 1e100, 1e-100, 5e-5, 1/0, -1/0, "1.5"} do out[#out + 1] = string.format(f, v) end end return out

local out = {} for i = 0, 40 do for j = 0, 8 do out[#out + 1] = string.format("%." .. j .. "f %." .. j .. "e %." .. j .. "g", (i * 2 + 1) / 2 ^ j, (i * 2 + 1) / 2 ^ j, (i * 2 + 1) / 2 ^ j) end end return out

local out = {} for i = 0, 30 do for j = 0, 10 do local v = (2 * i + 1) * 5 ^ j / 2 out[#out + 1] = string.format("%.0e %.1e %.2e %.3g %.5g", v * 10, v * 100, v * 1000, v * 10, v * 1000) end end return out

local out = {} for _, f in ipairs{"%s", "%5s", "%-5s|", "%.2s", "%5.2s", "%-5.2s|", "%.0s|", "%.s|", "%05s", "%+s", "%#s", "% s", "%99s", "%.99s"} do for _, v in ipairs{"", "a", "abc", "abcdefgh", "a\0b", ("x"):rep(99), ("x"):rep(100), ("x"):rep(200), ("x\0"):rep(60), 12, 1.5, -0.1, 1e100} do out[#out + 1] = string.format(f, v) end end return out

return string.format("%q", 'a"b\\c\nd\re\0f\t\255'), string.format("%q", ""), string.format("%q", 12), string.format("%5q", "x"), string.format("%q%q", "a", "b"), string.format("%.1q", "abc")

local out = {} for _, f in ipairs{"%c", "%5c|", "%-5c|", "%05c", "%.3c"} do for _, v in ipairs{65, 0, 255, 256 + 65, -1, 65.9, 2^31 + 65, 2^32 + 65, "66"} do out[#out + 1] = string.format(f, v) end end return out

return string.format("plain"), string.format(""), string.format("%%"), string.format("100%% %d", 5), string.format(5), string.format("a\0b%d", 1), string.format("%d%d%d", 1, 2, 3), string.format("%d", 1, 2, 3)

return string.format()

return string.format(nil)

return string.format({})

return string.format("%d")

return string.format("%d %d", 1)

return string.format("%d", "x")

return string.format("%d", nil)

return string.format("%d", {})

return string.format("%s")

return string.format("%s", nil)

return string.format("%s", true)

return string.format("%s", {})

return string.format("%q", {})

return string.format("%c", "x")

return string.format("%f", "x")

return string.format("%x", {})

return string.format("%y", 1)

return string.format("%", 1)

return string.format("x%")

return string.format("%5", 1)

return string.format("%a", 1)

return string.format("%p", 1)

return string.format("%n", 1)

return string.format("%l", 1)

return string.format("%ld", 1)

return string.format("%F", 1)

return string.format("%123d", 1)

return string.format("%.123d", 1)

return string.format("%1.123d", 1)

return string.format("%------d", 1)

return string.format("%-----d", 1)

return string.format("%-+ #0d", 1)

return string.format("%-+ #00d", 1)

return string.format("%*d", 1, 2)

return string.format("%5.5.5d", 1)

return string.format("%\0", 1)

return string.format("%\255", 1)

return string.format("%d %y", "x")

return string.format("%y %d", "x")

return ("%d"):format()

return ("%s %s"):format("a")

return pcall(string.format, "%d", "x")

return string.format("%s %s", 1, 2), string.format("%5.1f|%-8s|%03d", 3.14159, "ab", 7), string.format("%s", ("y"):rep(1000)), string.format("%-20s|%20s|", "left", "right")

return tostring(0/0), string.format("%f %g %e %d %s %5.1f|%-8f|%08f|%+f|% f", 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0), string.format("%08f|%+f|% f|%-8f|%F", 1/0, 1/0, 1/0, 1/0) == nil

return string.format("%E %G %X", 1/0, -1/0, 3735928559), string.format("%G", 1e-10), string.format("%G", 1e100)

-- Integers of 15 digits, one more than are shown: only those that end in 5 lie in the middle.
local out = {} for i = 0, 20 do out[#out + 1] = tostring(123456789012340 + i) out[#out + 1] = (999999999999980 + i) .. "" end return out
