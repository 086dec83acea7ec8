/** What the job board begins with: jobs and people, the same every time. */
import type { CandidateSpec, GeoPoint, JobSpec } from "cinnabar/job-search";
import { cycled } from "./cycled.ts";

export interface JobData {
  readonly title: string;
  readonly company: string;
  readonly by: string;
}

export const CITIES: Readonly<Record<string, GeoPoint>> = {
  Berlin: { latitude: 52.52, longitude: 13.405 },
  Potsdam: { latitude: 52.391, longitude: 13.065 },
  Hamburg: { latitude: 53.551, longitude: 9.994 },
  Paris: { latitude: 48.857, longitude: 2.352 },
  London: { latitude: 51.507, longitude: -0.128 },
  Lisbon: { latitude: 38.722, longitude: -9.139 },
};

/** Title, what is required (skill, level, years), what is welcome. */
const KINDS: readonly (readonly [string, readonly (readonly [string, number, number])[], readonly string[]])[] = [
  [
    "Backend engineer",
    [
      ["TypeScript", 2, 2],
      ["Redis", 1, 1],
      ["SQL", 2, 0],
    ],
    ["Lua", "Kubernetes"],
  ],
  [
    "Page engineer",
    [
      ["TypeScript", 2, 1],
      ["CSS", 2, 0],
    ],
    ["Accessibility", "Design"],
  ],
  [
    "Data engineer",
    [
      ["Python", 2, 2],
      ["SQL", 3, 2],
      ["Kafka", 1, 0],
    ],
    ["Redis", "Statistics"],
  ],
  [
    "Site reliability engineer",
    [
      ["Linux", 3, 3],
      ["Kubernetes", 2, 1],
      ["Go", 1, 0],
    ],
    ["Redis", "Python"],
  ],
  [
    "Machine learning engineer",
    [
      ["Python", 3, 2],
      ["Statistics", 2, 2],
    ],
    ["SQL", "Kubernetes"],
  ],
  [
    "Embedded engineer",
    [
      ["C", 3, 4],
      ["Linux", 2, 0],
    ],
    ["Lua"],
  ],
  [
    "Game programmer",
    [
      ["C", 2, 2],
      ["Lua", 2, 1],
    ],
    ["Design"],
  ],
  [
    "Support engineer",
    [
      ["Linux", 1, 0],
      ["SQL", 1, 0],
    ],
    ["TypeScript", "Python"],
  ],
  [
    "Designer",
    [
      ["Design", 2, 2],
      ["CSS", 1, 0],
    ],
    ["Accessibility"],
  ],
  ["Accessibility specialist", [["Accessibility", 3, 2]], ["CSS", "TypeScript"]],
];
const COMPANIES = ["Harbour", "Larch", "Nimbus", "Quill", "Saffron", "Tin Can"];
const PEOPLE =
  "Ada Alan Barbara Claude Edith Frances Grace Hedy Ida Joan Karen Ken Lin Marie Niklaus Olga Radia Rosa Tim Vera".split(
    " ",
  );
const SENIORITY = [
  ["", 0],
  ["Senior ", 1],
  ["Lead ", 2],
] as const;
const POSTED_MS = Date.UTC(2026, 8, 1);
const DAY_MS = 86_400_000;

const cities = Object.entries(CITIES);

export const SAMPLE_JOBS: readonly { readonly id: string; readonly spec: JobSpec<JobData> }[] = KINDS.flatMap(
  ([title, requires, optional], kind) =>
    Array.from({ length: 6 }, (_, nth) => {
      const [word, more] = cycled(SENIORITY, nth);
      const company = cycled(COMPANIES, kind + nth);
      const [city, at] = cycled(cities, kind * 2 + nth);
      const isRemote = (kind + nth) % 3 === 0;
      return {
        id: `sample-${kind}-${nth}`,
        spec: {
          requires: requires.map(([skill, level, years]) => ({
            skill,
            level: level + (more > 0 ? 1 : 0),
            years: years + more,
          })),
          optional: optional.map((skill, place) => ({ skill, weight: optional.length - place })),
          places: isRemote ? [city, "remote"] : [city],
          at,
          postedAt: new Date(POSTED_MS + ((kind * 6 + nth) % 29) * DAY_MS),
          data: { title: `${word}${title}`, company, by: company },
        },
      };
    }),
);

export const SAMPLE_CANDIDATES: readonly { readonly id: string; readonly spec: CandidateSpec<null> }[] = PEOPLE.map(
  (id, nth) => {
    const [first, second] = [cycled(KINDS, nth), cycled(KINDS, nth * 3 + 1)];
    const skills = [...first[1], ...second[1]].map(([skill, level, years]) => ({
      skill,
      level: level + (nth % 3) - (nth % 5 === 0 ? 1 : 0),
      years: years + (nth % 4),
    }));
    const [city, at] = cycled(cities, nth);
    return {
      id,
      spec: {
        skills: skills.map((each) => ({ ...each, level: Math.max(0, each.level) })),
        places: [city],
        at,
      },
    };
  },
);
