/** The marketplace: what is for sale, what is yours, and a crowd that wants the same thing at the same moment. */
import type { Listing } from "cinnabar/market";
import { type SubmitEvent, useState } from "react";
import type { Trade } from "../../../src/examples/marketplace.ts";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { micros } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, Table, useActions } from "../../parts.tsx";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { centsOf, money, newId, useKept, useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor } from "./visitor.tsx";
import "./marketplace.css";

const API = "/api/examples/marketplace";

interface View {
  readonly funds: number;
  readonly inventory: readonly string[];
  readonly listings: readonly Listing[];
  readonly next: string | null;
  readonly latest: readonly Trade[];
}

interface RushResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly buyer: string | null;
  readonly owner: string | null;
  readonly before: number;
  readonly after: number;
  readonly micros: number;
}

type Way = "script" | "watch";
type Actions = ReturnType<typeof useActions>;

const OUTCOMES: Readonly<Record<string, string>> = {
  bought: "bought it",
  "not-found": "came too late",
  "insufficient-funds": "had too little money",
  "price-changed": "found another price",
  "own-item": "owned it",
};

function RushDialog({ of, way, close }: { of: Listing; way: Way; close: () => void }) {
  const [result, setResult] = useState<RushResult | null>(null);
  const [buyers, setBuyers] = useState(20);
  const actions = useActions(() => {});
  const run = () =>
    actions.run(async () =>
      setResult(await act<RushResult>("POST", `${API}/rush`, { item: of.item, price: of.price, buyers, way })),
    );
  return (
    <Dialog title={`A crowd wants “${of.item}”`} close={close}>
      <div className="stack">
        <p className="dim">
          They are given {money(of.price)} each, and all buy at the same moment,{" "}
          {way === "script" ? "each by one script" : "each by WATCH, MULTI and EXEC"}.
        </p>
        {actions.view}
        <div className="market-result" role="status">
          {result && (
            <dl className="pairs">
              {Object.entries(result.counts).map(([outcome, count]) => (
                <div key={outcome}>
                  <dt>{OUTCOMES[outcome] ?? outcome}</dt>
                  <dd>
                    <b>{count}</b>
                  </dd>
                </div>
              ))}
              <div>
                <dt>Owner now</dt>
                <dd>{result.owner ?? "–"}</dd>
              </div>
              <div>
                <dt>Money of all, before and after</dt>
                <dd>
                  {money(result.before)} {result.before === result.after ? "=" : "≠"} {money(result.after)}
                </dd>
              </div>
              <div>
                <dt>All of them took</dt>
                <dd>{micros(result.micros)}</dd>
              </div>
            </dl>
          )}
        </div>
        <div className="row end">
          <label className="row dim">
            Buyers
            <select value={buyers} onChange={(event) => setBuyers(Number(event.currentTarget.value))}>
              {[2, 5, 20, 50].map((count) => (
                <option key={count} value={count}>
                  {count}
                </option>
              ))}
            </select>
          </label>
          <button type="button" onClick={close}>
            Close
          </button>
          <ActButton type="button" className="main" disabled={result !== null} onClick={run}>
            Let them
          </ActButton>
        </div>
      </div>
    </Dialog>
  );
}

function Listings(props: {
  listings: readonly Listing[];
  mine: string | undefined;
  funds: number;
  buy: (listing: Listing) => void;
  unlist: (listing: Listing) => void;
  rush: (listing: Listing) => void;
}) {
  return (
    <Table
      label="For sale"
      rows={props.listings}
      id={({ item }) => item}
      columns={[
        { title: "Thing", wide: true, cell: ({ item }) => <b className="market-item">{item}</b> },
        { title: "Seller", cell: ({ seller }) => (seller === props.mine ? "you" : seller) },
        { title: "Price", numeric: true, cell: ({ price }) => money(price) },
        {
          title: "",
          cell: (listing) => (
            <span className="market-buttons">
              {listing.seller === props.mine ? (
                <ActButton type="button" className="small" data-row="" onClick={() => props.unlist(listing)}>
                  Take back
                </ActButton>
              ) : (
                <ActButton
                  type="button"
                  className="small"
                  data-row=""
                  aria-label={`Buy ${listing.item}`}
                  title={props.funds < listing.price ? "You have less than that" : undefined}
                  onClick={() => props.buy(listing)}
                >
                  Buy
                </ActButton>
              )}
              <ActButton
                type="button"
                className="small"
                aria-label={`Let a crowd buy ${listing.item}`}
                onClick={() => props.rush(listing)}
              >
                Crowd
              </ActButton>
            </span>
          ),
        },
      ]}
    />
  );
}

function Owned({ item, actions }: { item: string; actions: Actions }) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get("price");
    void actions.run(async () => act("POST", `${API}/listings`, { item, price: centsOf(text) }));
  };
  return (
    <li>
      <span>{item}</span>
      <form className="row" onSubmit={submit}>
        <input aria-label={`Price of ${item}`} name="price" inputMode="decimal" size={6} placeholder="10.00" required />
        <ActButton type="submit">Sell</ActButton>
      </form>
    </li>
  );
}

function Side({ view, actions }: { view: View | undefined; actions: Actions }) {
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const item = String(new FormData(form).get("item"));
    if (await actions.run(() => act("POST", `${API}/items`, { item }))) form.reset();
  };
  return (
    <div className="market-side">
      <section className="card" aria-label="Yours">
        <h2 className="market-funds">
          You have <output>{view ? money(view.funds) : "–"}</output>
        </h2>
        <ActButton type="button" onClick={() => actions.run(() => act("POST", `${API}/allowance`))}>
          Take today's money
        </ActButton>
        <h3>Your things</h3>
        {view?.inventory.length === 0 && <p className="dim">None that is not for sale. Make one, or buy.</p>}
        <ul className="market-owned">
          {view?.inventory.map((item) => (
            <Owned key={item} item={item} actions={actions} />
          ))}
        </ul>
        <form className="row" onSubmit={submit}>
          <input name="item" aria-label="A new thing" placeholder="A new thing" maxLength={60} required />
          <ActButton type="submit">Make</ActButton>
        </form>
      </section>
      <section className="card" aria-label="Latest trades">
        <h2>Latest trades</h2>
        {view?.latest.length === 0 && <p className="dim">Nobody has bought anything yet.</p>}
        <ul className="market-latest">
          {view?.latest.map(({ id, item, price, seller, buyer }) => (
            <li key={id}>
              <b>{item}</b> for {money(price)}{" "}
              <span className="dim">
                {seller} → {buyer}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function WayChoice({ way, choose }: { way: Way; choose: (way: Way) => void }) {
  return (
    <fieldset className="tabs" aria-label="How a purchase is kept from others'">
      <button type="button" aria-pressed={way === "script"} onClick={() => choose("script")}>
        By script
      </button>
      <button type="button" aria-pressed={way === "watch"} onClick={() => choose("watch")}>
        By WATCH
      </button>
    </fieldset>
  );
}

export function Marketplace() {
  const { name } = useVisitor();
  const [behind, setBehind] = useState<readonly string[]>([]);
  const [way, setWay] = useState<Way>("script");
  const [crowd, setCrowd] = useState<Listing | null>(null);
  const after = behind.at(-1);
  const loaded = useKept(
    useLoad<View>(name === undefined ? null : `${API}/view`, after === undefined ? {} : { after }),
  );
  const actions = useActions(loaded.reload);
  useEvents("marketplace", loaded.reload);
  useRowKeys();
  const buy = ({ item, price }: Listing) =>
    actions.run(() => act("POST", `${API}/purchases`, { id: newId(), item, price, way })).then(loaded.reload);
  return (
    <ExamplePage name="marketplace" title="Marketplace" changed={loaded.reload}>
      <div className="row market-tools">
        <WayChoice way={way} choose={setWay} />
        <span className="dim">
          {way === "script" ? "one round trip" : "two round trips, and again after a conflict"}
        </span>
      </div>
      {actions.view}
      <div className="market">
        <div className="market-main">
          <States of={loaded}>
            {({ listings, next, funds }) =>
              listings.length === 0 && behind.length === 0 ? (
                <NothingYet title="Nothing is for sale.">
                  Make a thing and sell it, or let eight people open their stalls.
                </NothingYet>
              ) : (
                <>
                  <Listings
                    listings={listings}
                    mine={name}
                    funds={funds}
                    buy={buy}
                    unlist={({ item }) =>
                      actions.run(() => act("DELETE", `${API}/listings/${encodeURIComponent(item)}`))
                    }
                    rush={setCrowd}
                  />
                  <div className="row market-pages">
                    <button type="button" disabled={behind.length === 0} onClick={() => setBehind(behind.slice(0, -1))}>
                      Previous
                    </button>
                    <button type="button" disabled={next === null} onClick={() => setBehind([...behind, next!])}>
                      Next
                    </button>
                  </div>
                </>
              )
            }
          </States>
        </div>
        <Side view={loaded.data} actions={actions} />
      </div>
      {crowd && <RushDialog of={crowd} way={way} close={() => setCrowd(null)} />}
    </ExamplePage>
  );
}
