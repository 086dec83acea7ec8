import type { Handlers } from "cinnabar/queues";

const kept: number[][] = [];

export const handlers: Handlers<number, number> = {
  square: ({ data }) => data * data,
  loop: () => {
    for (;;);
  },
  leak: () => {
    for (;;) kept.push(new Array(100_000).fill(1));
  },
  crash: () => process.exit(1),
};
