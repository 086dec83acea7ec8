/** Rooms to look at, with people in them who have talked. */

interface Room {
  readonly room: string;
  readonly members: readonly string[];
  readonly lines: readonly { readonly by: string; readonly text: string }[];
}

const talk = (...lines: readonly (readonly [by: string, text: string])[]) => lines.map(([by, text]) => ({ by, text }));

export const ROOMS: readonly Room[] = [
  {
    room: "Lounge",
    members: ["Ada", "Alan", "Grace", "Radia"],
    lines: talk(
      ["Ada", "Good morning. Is the analytical engine up?"],
      ["Grace", "It was, until a moth came by."],
      ["Alan", "Did it halt?"],
      ["Grace", "Nobody can tell. 🦋"],
      ["Radia", "I took another path, there is no loop on that one."],
      ["Ada", "Then tea at four, in the usual place."],
      ["Alan", "I'll bring the bombes. The cake kind."],
    ),
  },
  {
    room: "Release 2.0",
    members: ["Barbara", "Ken", "Margaret"],
    lines: talk(
      ["Margaret", "Go or no go?"],
      ["Barbara", "Anything that worked with 1.0 must work with 2.0, in every place where 1.0 stood."],
      ["Ken", "I removed a thousand lines. It is a good day."],
      ["Margaret", "1202 alarm in the tests."],
      ["Ken", "That one is only telling you that it is busy and doing the important things first."],
      ["Margaret", "Then we are go."],
    ),
  },
  {
    room: "Café ☕",
    members: ["Hedy", "Zoë", "李娜"],
    lines: talk(
      ["Zoë", "Qui veut un café ?"],
      ["李娜", "我要一杯,谢谢!"],
      ["Hedy", "One for me; I'll hop over, on no frequency in particular."],
      ["Zoë", "صباح الخير 👋"],
    ),
  },
];
