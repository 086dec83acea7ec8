/** The shop: the catalogue and a product's page from the cache, stock from the row cache, cart, account, what was viewed. */
import type { Viewed } from "cinnabar/views";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import type { Product } from "../../../src/examples/shop-sample.ts";
import { ActButton } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { duration, micros } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { States, Table, Trouble, useActions } from "../../parts.tsx";
import { usePlace } from "../../router.ts";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { ExampleEmpty } from "./look.tsx";
import { centsOf, money, useKept, useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { Account } from "./shop-account.tsx";
import { CartBox } from "./shop-cart.tsx";
import { API, type Mine, type Names } from "./shop-parts.ts";
import "./shop.css";

interface Cached {
  readonly state: "hit" | "stale" | "miss";
  readonly ageMs: number;
  readonly micros: number;
}

interface Catalogue {
  readonly products: readonly Product[];
  readonly cache: Cached;
  readonly top: readonly Viewed[];
}

const linkTo = (id: string): string => `#/examples/shop?${new URLSearchParams({ product: id })}`;

/** Where a page came from. Of a fixed width: nothing moves when the words change. */
function FromCache({ cache: { state, ageMs, micros: took } }: { cache: Cached }) {
  const words = {
    hit: `kept ${duration(ageMs)} ago`,
    stale: `${duration(ageMs)} old; a new one is being made`,
    miss: "made from the database",
  };
  return (
    <p className="shop-cache" role="status">
      Page cache <span className={`tag shop-${state}`}>{state.toUpperCase()}</span>{" "}
      <span className="dim">
        {words[state]}, {micros(took)}
      </span>
    </p>
  );
}

function Products({ data, put }: { data: Catalogue; put: (id: string) => void }) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = data.products.filter(({ name, kind }) => `${name} ${kind}`.toLowerCase().includes(wanted));
  return (
    <>
      <div className="row shop-tools">
        <input
          aria-label="Find a product"
          placeholder="Find a product"
          data-search
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <FromCache cache={data.cache} />
      </div>
      {shown.length === 0 ? (
        <ExampleEmpty title="Nothing is called that.">Look for fewer letters of its name.</ExampleEmpty>
      ) : (
        <Table
          label="Products"
          rows={shown}
          id={({ id }) => id}
          columns={[
            {
              title: "Product",
              wide: true,
              cell: ({ id, name, text }) => (
                <>
                  <a href={linkTo(id)} data-row="">
                    {name}
                  </a>
                  <span className="dim shop-text"> {text}</span>
                </>
              ),
            },
            { title: "Kind", cell: ({ kind }) => <span className="dim">{kind}</span> },
            { title: "Price", numeric: true, cell: ({ price }) => money(price) },
            {
              title: "",
              cell: ({ id, name }) => (
                <ActButton
                  type="button"
                  className="small"
                  aria-label={`Add ${name} to the cart`}
                  onClick={() => put(id)}
                >
                  Add
                </ActButton>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

interface Detail {
  readonly product: Product;
  readonly cache: Cached;
  readonly standing: Viewed | null;
}

function Stock({ id }: { id: string }) {
  const loaded = useLoad<{ row: { stock: number; ageMs: number } | null }>(
    `${API}/products/${encodeURIComponent(id)}/stock`,
    {},
    2_500,
  );
  if (loaded.data === undefined) return <dd>–</dd>;
  const { row } = loaded.data;
  return (
    <dd>
      {row === null ? "not read yet" : row.stock === 0 ? <span className="bad">sold out</span> : `${row.stock}`}{" "}
      {row !== null && <span className="dim">row read {duration(row.ageMs)} ago, every 5 s</span>}
    </dd>
  );
}

function PriceForm({ product, done }: { product: Product; done: () => void }) {
  const actions = useActions(done);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get("price");
    const path = `${API}/products/${encodeURIComponent(product.id)}/price`;
    await actions.run(async () => act("PUT", path, { price: centsOf(text) }));
  };
  return (
    <>
      <form className="row" onSubmit={submit}>
        <label className="row dim">
          New price
          <input
            key={product.price}
            name="price"
            inputMode="decimal"
            size={7}
            required
            defaultValue={(product.price / 100).toFixed(2)}
          />
        </label>
        <ActButton type="submit">Change, and make cached pages invalid</ActButton>
      </form>
      {actions.view}
    </>
  );
}

function ProductPage({
  id,
  turn,
  put,
  seen,
}: {
  id: string;
  turn: number;
  put: (id: string) => void;
  seen: () => void;
}) {
  const loaded = useLoad<Detail>(`${API}/products/${encodeURIComponent(id)}`);
  useEffect(() => void document.querySelector(".example-body")?.scrollTo(0, 0), [id]);
  const known = useRef(turn);
  useEffect(() => {
    if (turn === known.current) return;
    known.current = turn;
    loaded.reload();
  }, [turn]);
  useEffect(() => {
    if (loaded.data !== undefined) seen();
  }, [loaded.data]);
  return (
    <>
      <p className="shop-back">
        <a href="#/examples/shop">← All products</a>
      </p>
      <States of={loaded}>
        {({ product, cache, standing }) => (
          <section className="card shop-product">
            <h2>{product.name}</h2>
            <p>{product.text}</p>
            <dl className="pairs">
              <div>
                <dt>Price</dt>
                <dd>
                  <b>{money(product.price)}</b>
                </dd>
              </div>
              <div>
                <dt>In stock</dt>
                <Stock id={id} />
              </div>
              <div>
                <dt>Views, lately</dt>
                <dd>
                  {standing === null ? "–" : `${standing.views.toFixed(1)}, number ${standing.rank + 1} in the shop`}
                </dd>
              </div>
            </dl>
            <div className="row">
              <ActButton type="button" className="main" onClick={() => put(id)}>
                Put into the cart
              </ActButton>
              <button type="button" onClick={loaded.reload}>
                Load the page again
              </button>
            </div>
            <FromCache cache={cache} />
            <PriceForm product={product} done={loaded.reload} />
          </section>
        )}
      </States>
    </>
  );
}

function NamesBox({ title, ids, names, none }: { title: string; ids: readonly string[]; names: Names; none: string }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {ids.length === 0 ? (
        <p className="dim">{none}</p>
      ) : (
        <ol className="shop-names">
          {ids.map((id) => (
            <li key={id}>
              <a href={linkTo(id)}>{names.get(id) ?? id}</a>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

export function Shop() {
  const { query } = usePlace();
  const id = query.get("product");
  const [turn, setTurn] = useState(0);
  const [error, setError] = useState<Failure | null>(null);
  const mine = useKept(useLoad<Mine>(`${API}/session`));
  const catalogue = useKept(useLoad<Catalogue>(`${API}/products`));
  const names: Names = new Map(catalogue.data?.products.map((each) => [each.id, each.name]));
  const reload = () => {
    mine.reload();
    catalogue.reload();
  };
  const changed = () => {
    reload();
    setTurn((old) => old + 1);
  };
  // An order changes the stock, which is looked at every now and then, and nothing that is kept.
  useEvents<{ type: string }>("shop", (event) => {
    // Loading a product's page counts a view: not for the sake of a stream that has begun.
    if (event === null) reload();
    else if (event.type !== "ordered") changed();
  });
  useRowKeys();
  const put = async (item: string) => {
    setError(null);
    try {
      await act("POST", `${API}/cart/${encodeURIComponent(item)}`, { by: 1 });
      mine.reload();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <ExamplePage name="shop" title="Shop" changed={changed} who={<Account mine={mine.data} changed={mine.reload} />}>
      {error && (
        <p className="bad" role="alert">
          {error.message}
        </p>
      )}
      <div className="shop">
        <div className="shop-main">
          {/* A product's page counts as viewed in a session: there has to be one. */}
          {id !== null && mine.data === undefined ? (
            <div className="loading" aria-busy="true" />
          ) : (
            <States of={catalogue}>
              {(data) => {
                if (data.products.length === 0) {
                  return (
                    <NothingYet title="The shelves are empty.">
                      The sample has two dozen things to look at, put into a cart and order.
                    </NothingYet>
                  );
                }
                if (id === null) return <Products data={data} put={put} />;
                return <ProductPage key={id} id={id} turn={turn} put={put} seen={mine.reload} />;
              }}
            </States>
          )}
        </div>
        <div className="shop-side">
          {mine.error && <Trouble error={mine.error} again={mine.reload} />}
          {mine.data && catalogue.data && (
            <>
              <CartBox mine={mine.data} changed={mine.reload} />
              <NamesBox
                title="Viewed most"
                ids={catalogue.data.top.map(({ item }) => item)}
                names={names}
                none="Nobody has looked at anything lately."
              />
              <NamesBox
                title="You looked at"
                ids={mine.data.viewed}
                names={names}
                none="What you look at is kept with your session."
              />
            </>
          )}
        </div>
      </div>
    </ExamplePage>
  );
}
