/** The cookie of sessions. What frameworks do with it is in toolkit/tests/integrations. */
import { describe, expect, test } from "vitest";
import { readCookie, writeCookie } from "./cookies.ts";

describe("the cookie", () => {
  test("is read among others, quoted or not, and an absurd header is not read", () => {
    expect(readCookie('a=1; sid="x.y"; b=2', "sid")).toBe("x.y");
    expect(readCookie("xsid=1; sid = z", "sid")).toBe("z");
    expect(readCookie("a=1", "sid")).toBeNull();
    expect(readCookie(undefined, "sid")).toBeNull();
    expect(readCookie(`sid=1;${"x".repeat(20_000)}`, "sid")).toBeNull();
  });

  test("is Secure over TLS, always or never as configured, and always when it crosses sites", () => {
    expect(writeCookie({}, "t", 1_000, true)).toContain("; Secure");
    expect(writeCookie({}, "t", 1_000, false)).not.toContain("Secure");
    expect(writeCookie({ secure: true }, "t", 1_000, false)).toContain("; Secure");
    expect(writeCookie({ sameSite: "none" }, "t", 1_000, false)).toContain("SameSite=None; Secure");
    expect(writeCookie({ name: "n", domain: "example.com", path: "/a" }, "t", 1_000, false)).toBe(
      "n=t; Path=/a; Domain=example.com; Max-Age=1; HttpOnly; SameSite=Lax",
    );
  });
});
