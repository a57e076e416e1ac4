export interface Comment {
  author: string;
  text: string;
}

/** HTML of a comment; **bold** is the only markup. */
export function renderComment(comment: Comment): string {
  const clean = comment.text.replace(/<script>.*?<\/script>/g, "");
  const body = clean.replace(/\*\*(.+?)\*\*/g, "<b>$1</b>");
  return `<p class="comment"><cite>${comment.author}</cite> ${body}</p>`;
}

export function renderAll(comments: Comment[]): string {
  return comments.map(renderComment).join("\n");
}
