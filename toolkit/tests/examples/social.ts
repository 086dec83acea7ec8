import { open } from "cinnabar";
import { Social } from "cinnabar/social";

const db = await open(process.env.STORE ?? "memory:");
const social = new Social(db);
const worker = social.worker().start(); // delivers what is posted; in any number of processes

const join = async (login: string): Promise<string> => {
  const joined = await social.users.join(login);
  if (joined.status !== "joined") throw new Error(joined.status);
  return joined.user.id;
};
const [ada, bob, eve] = [await join("Ada"), await join("Bob"), await join("Eve")];
console.log(await social.users.join("ADA")); // whatever the case

for (const other of [ada, eve]) console.log((await social.follows.follow(bob, other)).status);
await social.statuses.post(ada, "first", { id: "request-1" });
await social.statuses.post(ada, "first", { id: "request-1" }); // a repeated request posts nothing
const second = await social.statuses.post(ada, "second");
console.log(await social.follows.counts(ada));

const show = async (): Promise<void> => {
  const { items: statuses, cursor: next } = await social.timelines.home(bob, { limit: 10 });
  console.log(statuses.map(({ author, text }) => `${author.login}: ${text}`).join(", "), next);
};
await show();
await social.statuses.delete(ada, second!); // nobody sees it from here on
await show();

// A list has a timeline of its own; being in one is not being followed.
const created = await social.lists.create(eve, "scientists");
if (created.status === "created") {
  const { id } = created.list;
  await social.lists.addMember(id, ada);
  console.log((await social.timelines.list(id, { viewer: eve })).items.length, "in the list");
}
console.log((await social.follows.block(ada, bob)).status, (await social.follows.follow(bob, ada)).status);

await worker.stop();
await db.close();
