import { revalidateTag } from "next/cache";

export async function POST() {
  revalidateTag("products", { expire: 0 });
  return new Response(null, { status: 204 });
}
