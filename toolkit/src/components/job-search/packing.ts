/**
 * Jobs and candidates as the store holds them, and whether one fits the other.
 *
 * One line of text for each: `skills ␟ posted ␟ closes ␟ places ␟ latitude ␟ longitude ␟ optional`. Skills are `name ␝ level ␝ years`,
 * each with a ␞ before and behind it, so that one can be found by its name without taking the line apart; optional ones have a
 * weight as well, and a ␜ between them. Separators are control characters, which names cannot have.
 */
import { integer, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { ReplyFormError } from "../../base/replies.ts";
import type { GeoPoint, Have, Lacking, Requirement, Wish } from "./types.ts";

const [FIELD, ITEM, PART, WISH] = ["\x1f", "\x1e", "\x1d", "\x1c"];
const MAX_SKILL_BYTES = 64;
const MAX_LEVEL = 1_000;
const MAX_YEARS = 100;
const MAX_WEIGHT = 1_000;
const CONTROL = /[\x00-\x1f]/;

export interface Skill {
  readonly skill: string;
  readonly level: number;
  readonly years: number;
}

export interface Weighted extends Skill {
  readonly weight: number;
}

export interface Packed {
  readonly skills: readonly Skill[];
  readonly postedMs: number;
  readonly closesMs: number | null;
  readonly places: readonly string[];
  readonly at: GeoPoint | null;
  readonly optional: readonly Weighted[];
}

/** One form of a name, whatever its case and spaces. */
export function fold(what: string, name: string, maxBytes = MAX_SKILL_BYTES): string {
  word(what, name, 1_024);
  const folded = name.normalize("NFKC").trim().replace(/\s+/gu, " ").toLowerCase();
  if (CONTROL.test(folded)) throw new InputError(`${what} must not have control characters in it`);
  return word(what, folded, maxBytes);
}

/** Checked, folded; of a skill that is named twice, the most of each. */
export function checkedSkills(what: string, skills: readonly (Requirement | Have)[], most: number): Skill[] {
  if (!Array.isArray(skills)) throw new InputError(`${what} must be a list`);
  const all = new Map<string, Skill>();
  for (const { skill, level = 0, years = 0 } of skills) {
    const name = fold("skill", skill);
    integer("level", level, 0, MAX_LEVEL);
    if (!(years >= 0 && years <= MAX_YEARS)) throw new InputError(`years must be a number from 0 to ${MAX_YEARS}`);
    const before = all.get(name);
    all.set(name, {
      skill: name,
      level: Math.max(level, before?.level ?? 0),
      years: Math.max(years, before?.years ?? 0),
    });
  }
  if (all.size > most) throw new InputError(`${what} must not be more than ${most}`);
  return [...all.values()];
}

export function checkedWishes(wishes: readonly Wish[], most: number): Weighted[] {
  const weights = new Map<string, number>();
  for (const { skill, weight = 1 } of wishes)
    weights.set(fold("skill", skill), integer("weight", weight, 1, MAX_WEIGHT));
  return checkedSkills("optional", wishes, most).map((each) => ({ ...each, weight: weights.get(each.skill)! }));
}

export function checkedPlaces(places: readonly string[], most: number): string[] {
  if (places.length > most) throw new InputError(`at most ${most} places`);
  return [...new Set(places.map((place) => fold("place", place, 128)))];
}

export function checkedPoint(point: GeoPoint): GeoPoint {
  const { latitude, longitude } = point;
  if (!(Math.abs(latitude) <= 90)) throw new InputError("latitude must be a number from -90 to 90");
  if (!(Math.abs(longitude) <= 180)) throw new InputError("longitude must be a number from -180 to 180");
  return { latitude, longitude };
}

export function packWishes(wishes: readonly Weighted[]): string {
  return wishes.map(({ skill, level, years, weight }) => [skill, level, years, weight].join(PART)).join(WISH);
}

export function packPlaces(places: readonly string[]): string {
  return places.join(ITEM);
}

/** Everything behind the time of posting, which the server sets. */
export function packRest(rest: Omit<Packed, "skills" | "postedMs">): string {
  const { closesMs, places, at, optional } = rest;
  const point = [at?.latitude ?? "", at?.longitude ?? ""];
  return [closesMs ?? "", packPlaces(places), ...point, packWishes(optional)].join(FIELD);
}

export function unpack(packed: string): Packed {
  const [skills, posted, closes, places, latitude, longitude, optional] = packed.split(FIELD);
  if (skills === undefined || places === undefined || optional === undefined) {
    throw new ReplyFormError("a packed job or candidate", packed);
  }
  const items = (text: string, between: string): string[][] =>
    text
      .split(between)
      .filter((item) => item !== "")
      .map((item) => item.split(PART));
  const toSkill = ([skill, level, years]: string[]): Skill => ({
    skill: skill!,
    level: Number(level),
    years: Number(years),
  });
  return {
    skills: items(skills, ITEM).map(toSkill),
    postedMs: Number(posted),
    closesMs: closes === "" ? null : Number(closes),
    places: places === "" ? [] : places.split(ITEM),
    at: latitude === "" ? null : { latitude: Number(latitude), longitude: Number(longitude) },
    optional: items(optional, WISH).map((parts) => ({ ...toSkill(parts), weight: Number(parts[3]) })),
  };
}

/** What of the required is there, what is lacking, and which wishes are fulfilled. */
export function compare(required: readonly Skill[], optional: readonly Weighted[], has: readonly Skill[]) {
  const mine = new Map(has.map((each) => [each.skill, each]));
  const met: Skill[] = [];
  const missing: Lacking[] = [];
  for (const need of required) {
    const have = mine.get(need.skill);
    if (have !== undefined && have.level >= need.level && have.years >= need.years) met.push(need);
    else {
      const { skill, level, years } = need;
      missing.push({ skill, level, years, has: have === undefined ? null : { level: have.level, years: have.years } });
    }
  }
  const bonus = optional.filter(({ skill, level, years }) => {
    const have = mine.get(skill);
    return have !== undefined && have.level >= level && have.years >= years;
  });
  return { met, missing, bonus, score: bonus.reduce((sum, { weight }) => sum + weight, 0) };
}

const EARTH_KM = 6_371.0088;

/** Over the sphere. */
export function distanceKm(a: GeoPoint, b: GeoPoint): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const [north, east] = [radians(b.latitude - a.latitude) / 2, radians(b.longitude - a.longitude) / 2];
  const across = Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude));
  const half = Math.sin(north) ** 2 + across * Math.sin(east) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)));
}
