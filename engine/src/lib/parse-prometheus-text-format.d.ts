/** What tests need of the parser, which comes without types. */
declare module "parse-prometheus-text-format" {
  interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly { readonly value?: string; readonly labels?: Readonly<Record<string, string>> }[];
  }
  function parse(text: string): ParsedFamily[];
  export = parse;
}
