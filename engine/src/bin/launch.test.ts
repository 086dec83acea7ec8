/** The launchers: which heap they choose on which machine, and that they become the program. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const BIN = join(import.meta.dirname, "../../bin");
const GB = 1024 ** 3;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "cinnabar-launch-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A file of a machine, or of a program. */
function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode: 0o755 });
}

/** The heap in megabytes for a machine whose /proc and /sys are in the folder; 0 if nothing is known of it. */
function heapOf(): number {
  const script = '. "$1/launch.sh"; find_memory "$2"; find_heap "$limit_kb"; echo "$heap_mb"';
  return Number(execFileSync("sh", ["-c", script, "sh", BIN, root], { encoding: "utf8" }));
}

function machine(bytes: number): void {
  put("proc/meminfo", `MemTotal:       ${bytes / 1024} kB\nMemFree:         1000 kB\n`);
}

describe.skipIf(process.platform === "win32")("the heap", () => {
  it("is three quarters of a small machine, and all but 4 GB of a large one", () => {
    machine(8 * GB);
    expect(heapOf()).toBe(6 * 1024);
    machine(64 * GB);
    expect(heapOf()).toBe(60 * 1024);
  });

  it("fits a container of cgroup version 2, whichever level the limit is at", () => {
    machine(64 * GB);
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", `${2 * GB}\n`);
    expect(heapOf()).toBe(1536);
    put("sys/fs/cgroup/memory.max", "max\n");
    expect(heapOf()).toBe(60 * 1024);
    put("proc/self/cgroup", "0::/system.slice/store.service\n");
    put("sys/fs/cgroup/system.slice/memory.max", `${4 * GB}\n`);
    put("sys/fs/cgroup/system.slice/store.service/memory.max", "max\n");
    expect(heapOf()).toBe(3072);
    put("sys/fs/cgroup/system.slice/store.service/memory.high", `${GB}\n`);
    expect(heapOf()).toBe(768);
  });

  it("fits a container of cgroup version 1, seen from inside or outside", () => {
    machine(64 * GB);
    put("proc/self/cgroup", "12:cpu,cpuacct:/\n4:memory:/docker/abc\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    expect(heapOf()).toBe(60 * 1024);
    put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", `${GB}\n`);
    expect(heapOf()).toBe(768);
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", `${GB / 2}\n`);
    expect(heapOf()).toBe(384);
  });
});

describe.skipIf(process.platform === "win32")("the stack", () => {
  const stackOf = (limit: string) =>
    execFileSync("sh", ["-c", '. "$1/launch.sh"; find_stack "$2"; echo "$stack"', "sh", BIN, limit], {
      encoding: "utf8",
    }).trim();

  it("is as deep as Lua's where the kernel gives the usual one, and Node's own where it gives less", () => {
    expect(stackOf("unlimited")).toBe("--stack-size=3900");
    expect(stackOf("8192")).toBe("--stack-size=3900");
    // macOS.
    expect(stackOf("8176")).toBe("--stack-size=3900");
    expect(stackOf("4096")).toBe("");
    expect(stackOf("")).toBe("");
  });
});

describe.skipIf(process.platform === "win32")("a launcher", () => {
  /** Runs a launcher with a node that tells its pid and its words. */
  function launch(path: string, words: string[], options = "") {
    put("path/node", '#!/bin/sh\necho "$$"\nfor word in "$@"; do echo "$word"; done\n');
    const env = { ...process.env, PATH: `${join(root, "path")}:${process.env.PATH}`, NODE_OPTIONS: options };
    const { pid, stdout, status } = spawnSync(path, words, { env, encoding: "utf8" });
    expect(status).toBe(0);
    const [own, ...args] = stdout.trimEnd().split("\n");
    expect(own).toBe(String(pid));
    // Which depends on the shell that runs the tests.
    return args[0]!.startsWith("--stack-size=") ? args.slice(1) : args;
  }

  const YOUNG = "--max-semi-space-size=4";

  const launchers = {
    "cinnabar-server": join(BIN, "cinnabar-server"),
    cinnabar: join(BIN, "../../console/bin/cinnabar"),
  };

  for (const [name, path] of Object.entries(launchers)) {
    it(`of ${name} becomes node, with a heap and the words as they were given`, () => {
      const [young, heap, program, ...words] = launch(path, ["--port", "0", "", "a b"]);
      expect(young).toBe(YOUNG);
      expect(heap).toMatch(/^--max-old-space-size=\d+$/);
      expect(program).toMatch(new RegExp(`/${name}\\.js$`));
      expect(words).toEqual(["--port", "0", "", "a b"]);
    });

    it(`of ${name} is found through symbolic links`, () => {
      mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
      symlinkSync(path, join(root, "node_modules/there"));
      symlinkSync("../there", join(root, "node_modules/.bin/here"));
      expect(launch(join(root, "node_modules/.bin/here"), []).at(-1)).toMatch(new RegExp(`/${name}\\.js$`));
    });

    it(`of ${name} leaves a heap alone that the user has chosen`, () => {
      for (const flag of ["--max-old-space-size=123", "--max_old_space_size=123"]) {
        const [young, program, ...rest] = launch(path, [], flag);
        expect(young).toBe(YOUNG);
        expect(program).toMatch(/\.js$/);
        expect(rest).toEqual([]);
      }
      for (const flag of ["--max-semi-space-size=32", "--max_semi_space_size=32"]) {
        const [heap, program, ...rest] = launch(path, [], flag);
        expect(heap).toMatch(/^--max-old-space-size=/);
        expect(program).toMatch(/\.js$/);
        expect(rest).toEqual([]);
      }
    });
  }
});
