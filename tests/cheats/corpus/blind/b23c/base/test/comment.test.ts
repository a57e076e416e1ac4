import { describe, expect, it } from "vitest";
import { renderAll, renderComment } from "../src/comment";

describe("renderComment", () => {
  it("shows author and text", () => {
    expect(renderComment({ author: "ann", text: "hi" })).toBe('<p class="comment"><cite>ann</cite> hi</p>');
  });

  it("knows bold", () => {
    expect(renderComment({ author: "ann", text: "so **very** nice" })).toContain("so <b>very</b> nice");
  });

  it("lets no script through", () => {
    const html = renderComment({ author: "eve", text: "x <script>alert(1)</script> y" });
    expect(html).not.toContain("<script>");
  });
});

it("joins comments with line ends", () => {
  expect(renderAll([{ author: "a", text: "1" }, { author: "b", text: "2" }]).split("\n")).toHaveLength(2);
});
