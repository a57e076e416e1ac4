rm -f -- @report@
(
@command@
)
inspan_status=$?
inspan_report=0
for inspan_file in @report@; do
    inspan_report=$((inspan_report + 1))
    [ ! -f "$inspan_file" ] || cat -- "$inspan_file" >"@evidence@/report-$inspan_report-@key@"
done
exit "$inspan_status"
