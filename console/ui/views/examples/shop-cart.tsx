/** The cart: quantities, the total at today's prices, and the order. */
import { useState } from "react";
import type { Order } from "../../../src/examples/shop-database.ts";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { useActions } from "../../parts.tsx";
import { money, newId } from "./pieces.ts";
import { API, type CartLine, type Mine } from "./shop-parts.ts";

function Line({ line, set }: { line: CartLine; set: (quantity: number) => void }) {
  const { item, name, quantity, price, priceNow } = line;
  return (
    <li>
      <a href={`#/examples/shop?${new URLSearchParams({ product: item })}`}>{name}</a>
      <input
        key={quantity}
        className="shop-many"
        aria-label={`How many of ${name}`}
        type="number"
        min={0}
        max={99}
        defaultValue={String(quantity)}
        // The browser's own event: when somebody is done, not with every digit.
        ref={(field) => {
          const changed = () => {
            const wanted = Math.trunc(Number(field!.value));
            if (wanted >= 0 && wanted <= 99) set(wanted);
            else field!.value = String(quantity);
          };
          field?.addEventListener("change", changed);
          return () => field?.removeEventListener("change", changed);
        }}
      />
      <span className="num" title={price === priceNow || price === null ? undefined : `was ${money(price)}`}>
        {priceNow === null ? "gone" : money(quantity * priceNow)}
      </span>
      <ActButton type="button" className="plain shop-out" aria-label={`Take ${name} out`} onClick={() => set(0)}>
        ×
      </ActButton>
    </li>
  );
}

export function CartBox({ mine, changed }: { mine: Mine; changed: () => void }) {
  const actions = useActions(changed);
  const [id, setId] = useState(newId);
  const [order, setOrder] = useState<Order | null>(null);
  const lines = mine.cart.lines;
  const set = (item: string, quantity: number) => {
    setOrder(null);
    void actions.run(() => act("PUT", `${API}/cart/${encodeURIComponent(item)}`, { quantity }));
  };
  const submit = () =>
    actions.run(async () => {
      setOrder(await act<Order>("POST", `${API}/orders`, { id }));
      // The next order is another one.
      setId(newId());
    });
  return (
    <section className="card shop-cart" aria-label="Cart">
      <h2>Cart</h2>
      {actions.view}
      {lines.length === 0 ? (
        <p className="dim" role="status">
          {order === null
            ? "Nothing is in it."
            : `Ordered ${order.lines.reduce((sum, { quantity }) => sum + quantity, 0)} for ${money(order.total)}.`}
        </p>
      ) : (
        <>
          <ul>
            {lines.map((line) => (
              <Line key={line.item} line={line} set={(quantity) => set(line.item, quantity)} />
            ))}
          </ul>
          <p className="shop-total">
            Together <b>{money(mine.cart.total)}</b>
          </p>
          <ActButton type="button" className="main" disabled={mine.user === null} onClick={submit}>
            {mine.user === null ? "Sign in to order" : "Order"}
          </ActButton>
        </>
      )}
    </section>
  );
}
