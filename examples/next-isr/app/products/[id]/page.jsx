import { unstable_cache } from "next/cache";

// Rendered when it is first asked for, then at most once an hour, or when its path or its tag is revalidated.
export const revalidate = 3600;
export const generateStaticParams = () => [];

const stockOf = unstable_cache(async (id) => `${id}${Math.random().toString(36).slice(2)}`, ["stock"], {
  tags: ["products"],
});

export default async function Page({ params }) {
  const { id } = await params;
  return (
    <>
      <p id="stock">{await stockOf(id)}</p>
      <p id="made">{Math.random().toString(36).slice(2)}</p>
    </>
  );
}
