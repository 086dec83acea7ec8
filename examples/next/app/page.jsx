import { cacheLife, cacheTag } from "next/cache";

async function product() {
  "use cache";
  cacheTag("products");
  cacheLife("hours");
  return { madeAt: Math.random().toString(36).slice(2) };
}

export default async function Page() {
  const { madeAt } = await product();
  return <p id="made">{madeAt}</p>;
}
