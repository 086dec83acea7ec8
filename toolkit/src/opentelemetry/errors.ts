/** How errors stand on spans and in metrics. */
import { type Attributes, type Span, SpanStatusCode } from "@opentelemetry/api";
import { codeOf, errorOf, ServerError } from "../base/errors.ts";
import { DB, ERROR_TYPE } from "./names.ts";

/** Of few values: the code where there is one, otherwise the name of the error. Empty where there is none. */
export function errorAttributes(error: unknown): Attributes {
  if (error === undefined) return {};
  const code = codeOf(error) ?? "";
  const type = code === "" ? errorOf(error).name : code;
  return { [ERROR_TYPE]: type, ...(error instanceof ServerError ? { [DB.status]: error.code } : {}) };
}

export function fail(span: Span, error: unknown): void {
  const thrown = errorOf(error);
  span.recordException(thrown);
  span.setAttributes(errorAttributes(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message: thrown.message });
}
