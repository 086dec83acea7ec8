import { revalidatePath, revalidateTag } from "next/cache";

export async function POST(request) {
  const asked = new URL(request.url).searchParams;
  if (asked.has("tag")) revalidateTag(asked.get("tag"), { expire: 0 });
  if (asked.has("path")) revalidatePath(asked.get("path"));
  return new Response(null, { status: 204 });
}
