/**
 * Texts to search in where there is no apt: made-up programs and what they come in, with short descriptions of our own. One line
 * a program: name, section, what it is, what it does.
 */

const PROGRAMS = `
amber-notes | editors | note keeper | keeps plain notes and finds them while you type
anvil | devel | build tool | builds large programs from small rules, in parallel
apricot | graphics | photo organiser | sorts photos by place, day and face
argus | net | network monitor | watches hosts and tells when one is slow or silent
badger | mail | mail filter | learns which messages are junk and moves them away
basalt | database | key-value database | stores keys and values on disk and survives power loss
beacon | net | service directory | tells programs where other programs are running
birch | vcs | version control system | records changes to files and merges those of many people
bramble | web | web crawler | follows links politely and keeps what it finds
cairn | gis | map viewer | shows maps and tracks without a connection
cedar | database | relational database | answers SQL queries over tables with transactions
chisel | text | text processor | cuts, sorts and joins columns of text
cinder | science | fire simulator | computes how fires spread over a landscape
clover | games | card game | plays patience and many other card games
cobalt | graphics | image processing tool | scales, sharpens and converts images in bulk
compass | gis | route planner | finds the shortest way on foot, by bicycle or by train
coral | sound | music player | plays music files and internet radio
crane | admin | container runner | runs programs in containers and limits their memory
delta | utils | backup program | copies only what has changed and encrypts it
dune | science | statistics package | fits models and draws charts of data
ember | web | web server | serves web pages and files over HTTP
falcon | net | download manager | fetches files from many servers at once
fennel | interpreters | scripting language | runs small scripts with a simple syntax
fern | education | spelling teacher | teaches children to spell and to read
garnet | x11 | window manager | arranges windows by keyboard alone
glacier | utils | file archiver | packs files tightly and checks them when unpacking
harbor | net | file server | shares folders with other machines on the network
hazel | text | dictionary reader | looks up words in many languages, misspelt ones too
indigo | graphics | drawing program | draws pictures with brushes and layers
ivory | sound | piano synthesiser | plays a grand piano from MIDI files
juniper | python | testing framework | runs tests in parallel and explains failures
kestrel | science | bird song recogniser | tells birds apart by their songs
lantern | admin | log viewer | searches and follows logs of many servers
larch | libs | compression library | compresses streams of data quickly
linden | editors | text editor | edits text and source code with plugins
maple | science | computer algebra system | solves equations exactly
marble | games | board game | plays chess and draughts against people or itself
meadow | kde | desktop calendar | keeps appointments and reminds of birthdays
nettle | libs | encryption library | encrypts, signs and hashes data
onyx | video | video editor | cuts and joins films without encoding them again
otter | chat | chat client | talks to people over several networks
pebble | embedded | firmware loader | writes programs to small devices over a cable
`;

/** What a program comes in: ending of the name, section, description. */
const PARTS: readonly [ending: string, section: string | null, describe: (kind: string, does: string) => string][] = [
  ["", null, (kind, does) => `${kind.charAt(0).toUpperCase()}${kind.slice(1)} that ${does}`],
  ["-doc", "doc", (kind) => `Manual and examples of the ${kind}, as web pages`],
  ["-gui", null, (kind, does) => `Graphical interface to the ${kind}; ${does}`],
  ["-dev", "libdevel", (kind) => `Development files for extending the ${kind}`],
  ["-data", "misc", (kind) => `Data files, icons and translations of the ${kind}`],
];

/** One line each: name, section, summary. */
export const CORPUS_SAMPLE = PROGRAMS.trim()
  .split("\n")
  .flatMap((line) => {
    const [name = "", section = "", kind = "", does = ""] = line.split("|").map((part) => part.trim());
    return PARTS.map(([ending, own, describe]) => `${name}${ending} | ${own ?? section} | ${describe(kind, does)}`);
  })
  .join("\n");
