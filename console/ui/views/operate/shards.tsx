/** Sharded structures and fleets: what is where, and what is on its way. */
import type { Move } from "cinnabar/fleet";
import type { ListInfo, ShardInfo, ShardsInfo } from "cinnabar/sharded";
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { bytes, counted, moment, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Empty, Head, States, Table, useActions } from "../../parts.tsx";

type Structure = ShardsInfo | ListInfo;
interface Fleet {
  readonly name: string;
  readonly version: number;
  readonly changedAt: number;
  readonly processes: readonly { readonly version: number }[];
  readonly components: readonly {
    readonly name: string;
    readonly moving: Move | null;
    readonly left: number;
    readonly shards: readonly {
      readonly shard: string;
      readonly url: string;
      readonly slots: number;
      readonly leaving: boolean;
    }[];
  }[];
}

const isList = (each: Structure): each is ListInfo => each.kind === "list";

/** How often a page asks for the rest of a move. */
const MOST_ROUNDS = 200;

function partsOf(each: Structure): string {
  if (isList(each)) return `${counted(each.lanes, "lane")} of pieces of ${number(each.pieceSize)}`;
  return `${number(each.shards)} by hash, or ${number(each.shardSize)} numbers each, behind ${counted(each.tags, "tag")}`;
}

function stateOf(each: Structure) {
  if (each.moving === null) return "at rest";
  return <span className="tag warn">{`${number(each.moving.elementsLeft)} to move`}</span>;
}

function Inside({ name, tags, close }: { name: string; tags: number; close: () => void }) {
  const [tag, setTag] = useState(0);
  const loaded = useLoad<{ shards: ShardInfo[] }>(`/api/shards/${encodeURIComponent(name)}`, { tag });
  return (
    <Dialog title={name} close={close}>
      <label className="row">
        Tag
        <input
          type="number"
          min={0}
          max={tags - 1}
          value={tag}
          onChange={(event) => setTag(Math.min(tags - 1, Math.max(0, Number(event.currentTarget.value) || 0)))}
        />
      </label>
      <States of={loaded}>
        {({ shards }) =>
          shards.length === 0 ? (
            <Empty title="Nothing is behind this tag." />
          ) : (
            <Table
              label="Shards"
              rows={shards}
              id={({ key }) => key}
              columns={[
                {
                  title: "Key",
                  wide: true,
                  cell: ({ key }) => <a href={`#/keys?key=${encodeURIComponent(key)}`}>{key}</a>,
                },
                { title: "Elements", numeric: true, cell: ({ elements }) => number(elements) },
                { title: "Bytes", numeric: true, cell: (shard) => bytes(shard.bytes) },
                { title: "Encoding", cell: ({ encoding, isOld }) => (isOld ? `${encoding}, old` : encoding) },
              ]}
            />
          )
        }
      </States>
      <div className="row end">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Reshard({ of, close, done }: { of: ShardsInfo; close: () => void; done: () => void }) {
  const actions = useActions(done);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const shards = Number(new FormData(event.currentTarget as HTMLFormElement).get("shards"));
    const path = `/api/shards/${encodeURIComponent(of.name)}/reshard`;
    if (await actions.run(() => act("POST", path, { shards }))) close();
  };
  return (
    <Dialog title={`Shards of ${of.name}`} close={close}>
      {actions.view}
      <form className="stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor="shards">Shards by hash, in all</label>
          <input id="shards" name="shards" type="number" min={1} required defaultValue={String(of.shards)} />
          <small>Everybody goes on reading and writing while elements move.</small>
        </div>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Change shards
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function Structures({ list, changed }: { list: readonly Structure[]; changed: () => void }) {
  const actions = useActions(changed);
  const [inside, setInside] = useState<ShardsInfo | null>(null);
  const [changing, setChanging] = useState<ShardsInfo | null>(null);
  const move = (name: string) =>
    actions.run(async () => {
      // A request moves for some seconds at most; what is left then is asked for again.
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const path = `/api/shards/${encodeURIComponent(name)}/move`;
        if ((await act<{ finished: boolean }>("POST", path)).finished) return;
        changed();
      }
    }, `Elements of ${name} were moved`);
  if (list.length === 0) {
    return <Empty title="There is no sharded structure.">new ShardedSet(db, "visitors") makes one.</Empty>;
  }
  return (
    <>
      {actions.view}
      <Table
        label="Sharded structures"
        rows={list}
        id={({ kind, name }) => `${kind} ${name}`}
        columns={[
          { title: "Structure", wide: true, cell: ({ name }) => <code>{name}</code> },
          { title: "Kind", cell: ({ kind }) => kind },
          { title: "Elements", numeric: true, cell: ({ elements }) => number(elements) },
          { title: "Shards", cell: partsOf },
          { title: "State", cell: stateOf },
          {
            title: "",
            cell: (each) =>
              !isList(each) && (
                <span className="row">
                  <button type="button" className="small" onClick={() => setInside(each)}>
                    Show elements
                  </button>
                  {each.moving === null ? (
                    <ActButton type="button" className="small" data-acts="operator" onClick={() => setChanging(each)}>
                      Reshard structure
                    </ActButton>
                  ) : (
                    <ActButton type="button" className="small" data-acts="operator" onClick={() => move(each.name)}>
                      Move elements
                    </ActButton>
                  )}
                </span>
              ),
          },
        ]}
      />
      {inside && <Inside name={inside.name} tags={inside.tags} close={() => setInside(null)} />}
      {changing && <Reshard of={changing} close={() => setChanging(null)} done={changed} />}
    </>
  );
}

function FleetPart({ fleet }: { fleet: Fleet }) {
  const behind = fleet.processes.filter(({ version }) => version < fleet.version).length;
  const rows = fleet.components.flatMap((component) => component.shards.map((shard) => ({ ...shard, component })));
  return (
    <>
      <p className="note">
        {`${fleet.name}: layout ${fleet.version} of ${moment(fleet.changedAt)}, ${counted(fleet.processes.length, "process", "processes")}`}
        {behind > 0 && `, ${behind} of them behind`}
      </p>
      <Table
        label={`Fleet ${fleet.name}`}
        rows={rows}
        id={({ component, shard }) => `${component.name} ${shard}`}
        columns={[
          { title: "Component", cell: ({ component }) => <code>{component.name}</code> },
          { title: "Shard", cell: ({ shard, leaving }) => (leaving ? `${shard}, leaving` : shard) },
          { title: "Server", wide: true, cell: ({ url }) => <code>{url}</code> },
          { title: "Slots", numeric: true, cell: ({ slots }) => number(slots) },
          {
            title: "Moves",
            cell: ({ component: { moving }, shard }) =>
              moving !== null &&
              (moving.source === shard || moving.target === shard) && (
                <span className="tag warn">{`${moving.from}–${moving.to} ${moving.source === shard ? "away" : "in"}`}</span>
              ),
          },
        ]}
      />
    </>
  );
}

export function Shards() {
  const loaded = useLoad<{ structures: Structure[]; fleets: Fleet[] }>("/api/shards", {}, 3_000);
  return (
    <>
      <Head title="Shards" />
      <States of={loaded}>
        {({ structures, fleets }) => (
          <>
            <Structures list={structures} changed={loaded.reload} />
            <h2 className="section">Fleets whose home is here</h2>
            {fleets.length === 0 ? (
              <Empty title="This store is the home of no fleet.">
                Fleet.open(db) makes this store the home of one.
              </Empty>
            ) : (
              fleets.map((fleet) => <FleetPart key={fleet.name} fleet={fleet} />)
            )}
          </>
        )}
      </States>
    </>
  );
}
