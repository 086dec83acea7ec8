// Rendered anew in the background when somebody asks and it is older than a second.
export const revalidate = 1;

export default function Page() {
  return <p id="made">{Math.random().toString(36).slice(2)}</p>;
}
